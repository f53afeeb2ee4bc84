import { type RefObject, useRef } from 'react'

// How long after a wheel, key or drag event a scroll counts as a user action (ms).
const gestureWindow_ms = 350
const nearEnd_px = 24

/**
 * Following stops only when the user scrolls up. Growing content, resizing and programmatic scrolling also fire scroll events, but without a
 * preceding input event. Scrolling to the end resumes following.
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
