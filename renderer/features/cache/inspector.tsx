import { Radar } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useInspectCache } from '../../api/edge-cache.ts'
import type { CacheInspectionResult } from '../../../server/contract/network.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { TextField } from '../../components/field.tsx'
import { useForm } from '../../lib/use-form.ts'
import { InspectionResult } from './inspection-result.tsx'
import styles from './page.module.css'

/** “Cache inspector”: the result without a request, or with a real one. */
export function Inspector({ slug }: { slug: string }) {
  const [params, setParams] = useSearchParams()
  const urlParameter = params.get('url')
  const id = useId()
  const inspect = useInspectCache({ hidesErrorToast: true })
  const [inspection, setInspection] = useState<CacheInspectionResult | null>(null)
  const [invalidLine, setInvalidLine] = useState<string | null>(null)
  const form = useForm({ initial: { url: urlParameter ?? '/', headers: '' }, submission: inspect, onSubmit: () => void inspectUrl(false) })

  const inspectUrl = async (send: boolean) => {
    const parsed = parseHeaders(form.values.headers)
    setInvalidLine(typeof parsed === 'string' ? parsed : null)
    if (typeof parsed === 'string') return
    const url = form.values.url.trim()
    setParams({ url }, { replace: true })
    const request = { params: { slug }, body: { url, ...(Object.keys(parsed).length > 0 ? { headers: parsed } : {}) } }
    const sendRequest = (options: { send?: boolean }) => inspect.mutateAsync({ ...request, body: { ...request.body, ...options } }).catch(() => null)
    const result = await sendRequest(send ? { send } : {})
    setInspection(result)
    if (!send || !result) return
    // The inspection predates the request, so it is refetched to show what the request stored.
    const after = await sendRequest({})
    if (after) setInspection({ ...result, key: after.key, stored: after.stored })
  }
  // A URL in the query parameters is inspected immediately.
  const initialUrl = useRef(urlParameter)
  useEffect(() => {
    if (initialUrl.current === null) return
    initialUrl.current = null
    void inspectUrl(false)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once, on mount
  }, [])

  const isSending = inspect.variables?.body.send === true
  return (
    <section className="card" aria-labelledby="inspector">
      <header className="card-header">
        <h2 id="inspector">Cache inspector</h2>
      </header>
      <form className="card-body stack" {...form.props}>
        <div className={styles.inspectRow}>
          <TextField
            label="Path or URL"
            mono
            required
            placeholder="/products?page=2"
            {...form.text('url')}
            hint="Inspecting has no side effects. Sending a request counts as a visit: it wakes the app and may store the response."
          />
          <Button kind="primary" icon={Radar} type="submit" busy={inspect.isPending && !isSending}>
            Inspect
          </Button>
          <Button busy={inspect.isPending && isSending} onClick={() => form.values.url.trim() !== '' && void inspectUrl(true)}>
            Send a request
          </Button>
        </div>
        <details className="disclosure">
          <summary>Add request headers</summary>
          <textarea
            className="input mono"
            aria-label="Request headers"
            aria-describedby={`${id}-headers`}
            aria-invalid={invalidLine !== null || undefined}
            spellCheck={false}
            value={form.values.headers}
            placeholder={'Accept-Language: nb\nAccept-Encoding: gzip'}
            onChange={({ target }) => form.set({ headers: target.value })}
          />
          <p id={`${id}-headers`} className={invalidLine ? 'field-error' : 'field-hint'} role={invalidLine ? 'alert' : undefined}>
            {invalidLine
              ? `“${invalidLine}” is not a header. Write one per line, as Name: value.`
              : 'One per line. They matter when responses vary by them.'}
          </p>
        </details>
        {inspect.error && form.error('url') === undefined && <ProblemView problem={inspect.error} />}
      </form>
      <div role="status">{inspection && <InspectionResult slug={slug} inspection={inspection} onAgain={() => void inspectUrl(false)} />}</div>
    </section>
  )
}

/** Parses the headers, or returns the invalid line. */
function parseHeaders(text: string): Record<string, string> | string {
  const parsed: Record<string, string> = {}
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) return line
    parsed[name.toLowerCase()] = value
  }
  return parsed
}
