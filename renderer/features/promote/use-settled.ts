import { useEffect, useState } from 'react'

/** What somebody types, once they have paused. */
export function useSettled<Value>(value: Value, pause_ms = 300): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pause_ms)
    return () => clearTimeout(timer)
  }, [value, pause_ms])
  return settled
}
