import { useEffect, useState } from 'react'

/** The time, kept moving while somebody looks. `every_ms` null: standing still. */
export function useNow(every_ms: number | null): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    if (every_ms === null) return
    setNow(Date.now())
    const timer = setInterval(() => document.visibilityState === 'visible' && setNow(Date.now()), every_ms)
    return () => clearInterval(timer)
  }, [every_ms])
  return now
}
