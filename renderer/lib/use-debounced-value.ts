import { useEffect, useState } from 'react'

/** The value after typing has paused. */
export function useDebouncedValue<Value>(value: Value, delay_ms = 300): Value {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), delay_ms)
    return () => clearTimeout(timer)
  }, [value, delay_ms])
  return debounced
}
