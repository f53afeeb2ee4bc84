import { useSearchParams } from 'wouter'

type Values = Readonly<Record<string, string | null | undefined>>

/** The query parameters of the page. `change` keeps the others, `replace` removes them; an empty value removes its parameter. History gets no entry. */
export function useQueryParams() {
  const [params, setParams] = useSearchParams()
  const write = (before: URLSearchParams, values: Values) => {
    const next = new URLSearchParams(before)
    for (const [name, value] of Object.entries(values)) {
      if (value) next.set(name, value)
      else next.delete(name)
    }
    return next
  }
  const change = (values: Values) => setParams((before) => write(before, values), { replace: true })
  const replace = (values: Values) => setParams(write(new URLSearchParams(), values), { replace: true })
  return { params, change, replace, clear: () => replace({}) }
}
