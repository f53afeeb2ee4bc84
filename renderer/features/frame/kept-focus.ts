import { useEffect } from 'react'
import { goBack, isLost } from '../../ui/way-back.ts'

/** Who goes to another page by keys, and by something that is not on that page, is at its beginning, not at the top of the window. */
export function useKeptFocus(location: string): void {
  useEffect(() => {
    // After what is closed on the way, such as the palette, has given the focus back.
    const timer = setTimeout(() => isLost() && goBack([]))
    return () => clearTimeout(timer)
  }, [location])
}
