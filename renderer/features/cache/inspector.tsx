import { Radar } from 'lucide-react'
import { type FormEvent, useEffect, useId, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import type { CacheVerdict } from '../../../server/contract/network.ts'
import { useAction } from '../../api/actions.ts'
import { Button } from '../../ui/button.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { TextField } from '../../ui/field.tsx'
import { usePurged } from './purged.ts'
import { Verdict } from './verdict.tsx'

/** “What does the cache do with this address?”: the verdict without a request, or with a real one. */
export function Inspector({ slug }: { slug: string }) {
  const [params, setParams] = useSearchParams()
  const asked = params.get('url')
  const [url, setUrl] = useState(asked ?? '/')
  const [headers, setHeaders] = useState('')
  const id = useId()
  const inspect = useAction('inspectCache', { quiet: true })
  const [verdict, setVerdict] = useState<CacheVerdict | null>(null)
  const purged = usePurged(slug)
  const [wrongLine, setWrongLine] = useState<string | null>(null)

  const look = async (send: boolean) => {
    const read = headersOf(headers)
    if (typeof read === 'string') {
      setWrongLine(read)
      return
    }
    setWrongLine(null)
    setParams({ url: url.trim() }, { replace: true })
    const question = { params: { slug }, body: { url: url.trim(), ...(Object.keys(read).length > 0 ? { headers: read } : {}) } }
    const ask = (more: { send?: boolean }) => inspect.mutateAsync({ ...question, body: { ...question.body, ...more } }).catch(() => null)
    const found = await ask(send ? { send } : {})
    setVerdict(found)
    if (!send || !found) return
    purged()
    // The verdict is of the moment before the request; what is stored now is what it left behind.
    const after = await ask({})
    if (after) setVerdict({ ...found, key: after.key, stored: after.stored })
  }
  // Who comes with an address in the link wants its verdict.
  const came = useRef(asked)
  useEffect(() => {
    if (came.current === null) return
    came.current = null
    void look(false)
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once, on arrival
  }, [])

  const sends = inspect.variables?.body.send === true
  return (
    <section className="card" aria-labelledby="inspector">
      <header className="card-head">
        <h2 id="inspector">What does the cache do with this address?</h2>
      </header>
      <form
        className="card-body stack"
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          void look(false)
        }}
      >
        <div className="look-line">
          <TextField
            label="Path or address"
            mono
            required
            value={url}
            onChange={({ target }) => setUrl(target.value)}
            placeholder="/products?page=2"
            error={inspect.error?.issue('url')}
            hint="Inspecting has no side effects. Sending a request is a visit: it wakes the app and may store the response."
          />
          <Button kind="primary" icon={Radar} type="submit" busy={inspect.isPending && !sends}>
            Look
          </Button>
          <Button busy={inspect.isPending && sends} onClick={() => url.trim() !== '' && void look(true)}>
            Send a request
          </Button>
        </div>
        <details className="look-more">
          <summary>With request headers</summary>
          <textarea
            className="input mono"
            aria-label="Request headers"
            aria-describedby={`${id}-headers`}
            aria-invalid={wrongLine !== null || undefined}
            spellCheck={false}
            value={headers}
            placeholder={'Accept-Language: nb\nAccept-Encoding: gzip'}
            onChange={({ target }) => setHeaders(target.value)}
          />
          <p id={`${id}-headers`} className={wrongLine ? 'field-error' : 'field-hint'} role={wrongLine ? 'alert' : undefined}>
            {wrongLine ? `“${wrongLine}” is not a header. Write one a line, as Name: value.` : 'One a line. They matter where answers vary by them.'}
          </p>
        </details>
        {inspect.error && !inspect.error.issue('url') && <ProblemView problem={inspect.error} />}
      </form>
      <div role="status">{verdict && <Verdict slug={slug} verdict={verdict} onAgain={() => void look(false)} />}</div>
    </section>
  )
}

/** The headers, or the line that is none. */
function headersOf(text: string): Record<string, string> | string {
  const read: Record<string, string> = {}
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '') continue
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) return line
    read[name.toLowerCase()] = value
  }
  return read
}
