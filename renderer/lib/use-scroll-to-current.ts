import { useEffect, useRef } from 'react'

/** On a phone the links scroll horizontally: the current one scrolls into view without moving the page, whenever `state` changes. */
export function useScrollToCurrent(state: string) {
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    const current = list.current?.querySelector('[aria-current]')
    if (!list.current || !current) return
    const [outer, inner] = [list.current.getBoundingClientRect(), current.getBoundingClientRect()]
    list.current.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2
  }, [state])
  return list
}
