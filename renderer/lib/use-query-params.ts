import { useSearchParams } from 'wouter'

/** The query parameters of the page. Changes replace the history entry; an empty or undefined value removes its parameter. */
export function useQueryParams() {
  const [params, setParams] = useSearchParams()
  const change = (values: Readonly<Record<string, string | undefined>>) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before)
        for (const [name, value] of Object.entries(values)) {
          if (value === undefined || value === '') next.delete(name)
          else next.set(name, value)
        }
        return next
      },
      { replace: true },
    )
  const clear = () => setParams({}, { replace: true })
  return { params, change, clear }
}
