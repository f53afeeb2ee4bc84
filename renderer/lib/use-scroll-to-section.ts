import { useEffect } from 'react'
import { useSearchParams } from 'wouter'

/** Scrolls to the section named by `?at=…` once it is rendered. The palette and other pages link to sections by id. */
export function useScrollToSection(isReady: boolean): void {
  const [params] = useSearchParams()
  const sectionId = params.get('at')
  useEffect(() => {
    if (isReady && sectionId !== null) document.getElementById(sectionId)?.scrollIntoView({ block: 'start' })
  }, [sectionId, isReady])
}
