import { type RefObject, useRef } from 'react'

// How long after a wheel, a key or a drag a scroll counts as meant.
const gestureWindow_ms = 350
const nearEnd_px = 24

/**
 * Follow ends when a person scrolls up, and for no other reason: content that grows, a window that changes its size and
 * scrolling of our own make scroll events as well, but have no gesture before them. Coming back to the end turns it on.
 */
export function useFollowTail(
  scroller: RefObject<HTMLDivElement | null>,
  follow: boolean,
  onFollowChange: (follow: boolean) => void,
  onMoved: (scrollTop: number) => void,
) {
  const lastGestureAt = useRef(0)
  const dragging = useRef(false)
  const lastScrollTop = useRef(0)
  const markGesture = () => {
    lastGestureAt.current = performance.now()
  }
  return {
    onScroll() {
      const element = scroller.current
      if (!element) return
      const up = element.scrollTop < lastScrollTop.current
      lastScrollTop.current = element.scrollTop
      onMoved(element.scrollTop)
      if (!dragging.current && performance.now() - lastGestureAt.current > gestureWindow_ms) return
      const atEnd = element.scrollHeight - element.clientHeight - element.scrollTop < nearEnd_px
      if (up && follow && !atEnd) onFollowChange(false)
      else if (!up && !follow && atEnd) onFollowChange(true)
    },
    onWheel: markGesture,
    onTouchMove: markGesture,
    onKeyDown: markGesture,
    onPointerDown() {
      dragging.current = true
      const release = () => {
        dragging.current = false
        markGesture()
      }
      window.addEventListener('pointerup', release, { once: true })
      window.addEventListener('pointercancel', release, { once: true })
    },
  }
}
