import { useEffect } from 'react'
import { useSearchParams } from 'wouter'

/** `?at=…` leads to a part of a page, once it is there: the palette and other pages point at parts by their id. */
export function useScrollToSection(isReady: boolean): void {
  const [params] = useSearchParams()
  const sectionId = params.get('at')
  useEffect(() => {
    if (isReady && sectionId !== null) document.getElementById(sectionId)?.scrollIntoView({ block: 'start' })
  }, [sectionId, isReady])
}
