import { useEffect } from 'react'
import { useSearchParams } from 'wouter'

/** `?at=…` leads to a part of a page, once it is there: the palette and other pages point at parts by their id. */
export function useLanding(isReady: boolean): void {
  const [params] = useSearchParams()
  const at = params.get('at')
  useEffect(() => {
    if (isReady && at !== null) document.getElementById(at)?.scrollIntoView({ block: 'start' })
  }, [at, isReady])
}
