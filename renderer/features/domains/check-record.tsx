import { useCallback, useEffect } from 'react'
import type { Domain } from '../../../server/contract/domains.ts'
import { useAction } from '../../api/actions.ts'
import type { Answer } from '../../api/client.ts'
import { usePutDomain } from '../../api/domains.ts'
import { useInstance } from '../../api/queries.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { ProblemView } from '../../ui/feedback.tsx'
import { Prose } from '../../ui/prose.tsx'
import { Mark, checkSigns } from '../../ui/status.tsx'
import { Ago } from '../../ui/time.tsx'
import { domainAddress, hostPart, reachOf } from './words.ts'

type Check = Answer<'verifyDomain'>['checks'][number]

// DNS takes minutes: who leaves the page open sees it come without pressing again.
const again_ms = 15_000

/** The record to set, and what each look at it found, until the name leads here. */
export function CheckRecord({ domain, platformIp, onClose }: { domain: Domain; platformIp: string; onClose: () => void }) {
  const put = usePutDomain()
  const edgeUrl = useInstance().data?.instance.edge_url
  const { mutate, data, error, isPending } = useAction('verifyDomain', { quiet: true, onDone: (answer) => put(answer.domain.id, answer.domain) })
  const now = data?.domain ?? domain
  const isThere = now.status === 'verified'
  const look = useCallback(() => mutate({ params: { id: domain.id } }), [mutate, domain.id])
  const isWaiting = data !== undefined && !isThere
  useEffect(() => {
    if (!isWaiting) return
    const timer = setInterval(() => document.visibilityState === 'visible' && look(), again_ms)
    return () => clearInterval(timer)
  }, [isWaiting, look])
  const address = edgeUrl === undefined ? null : domainAddress(domain.hostname, edgeUrl)
  return (
    <>
      {!isThere && <Record hostname={domain.hostname} address={platformIp} />}
      {isThere && (
        <p className="domain-done" role="status">
          <Mark sign={checkSigns.ok} size={14} />
          <span>
            <strong>{domain.hostname}</strong> leads here, and the project answers to it.
          </span>
        </p>
      )}
      {data && <Checks checks={data.checks} />}
      {!data && now.last_check_at !== null && (
        <p className="quiet" role="status">
          Looked at <Ago at={now.last_check_at} />
          {now.last_check_error ? ': ' : '.'}
          {now.last_check_error && <Prose text={now.last_check_error} />}
        </p>
      )}
      {isWaiting && (
        <p className="faint">
          A new record can take minutes, an old one as long as its TTL says. While this is open it is looked at again by itself.
        </p>
      )}
      {error && <ProblemView problem={error} />}
      <footer className="dialog-foot">
        {isThere && address && (
          <ButtonLink href={address} kind="plain">
            Open it
          </ButtonLink>
        )}
        <Button onClick={onClose}>{isThere ? 'Done' : 'Later'}</Button>
        <Button kind={isThere ? 'plain' : 'primary'} busy={isPending} onClick={look}>
          {isThere ? 'Check again' : 'Check now'}
        </Button>
      </footer>
    </>
  )
}

function Record({ hostname, address }: { hostname: string; address: string }) {
  const part = hostPart(hostname)
  const reach = reachOf(address)
  return (
    <div className="stack">
      <p>Where the DNS of this name is kept, set this record, and take away other A, AAAA and CNAME records of the same name:</p>
      <dl className="domain-record" aria-label="Record to set">
        <div>
          <dt>Type</dt>
          <dd>
            <code>A</code>
          </dd>
        </div>
        <div>
          <dt>Name</dt>
          <dd>
            <code>{hostname}</code>
            <CopyButton text={hostname} label="Copy the name" />
          </dd>
        </div>
        <div>
          <dt>Value</dt>
          <dd>
            <code>{address}</code>
            <CopyButton text={address} label="Copy the value" />
          </dd>
        </div>
      </dl>
      <p className="faint">
        Some registrars take only the part before the domain: <code>{part}</code>
        {part === '@' ? ', which stands for the domain itself.' : '.'}
        {reach === 'machine' && ' The value is this machine’s own address: the name leads here on this machine alone.'}
        {reach === 'network' && ' The value is an address of your own network: the name leads here within it.'}
      </p>
    </div>
  )
}

function Checks({ checks }: { checks: readonly Check[] }) {
  return (
    <ul className="domain-checks" aria-label="What was found">
      {checks.map((check) => (
        <li key={`${check.type} ${check.name} ${check.expected}`}>
          <Mark sign={checkSigns[check.ok ? 'ok' : 'failed']} label={check.ok ? 'Right' : 'Not right'} />
          <div>
            <p>
              <code>{check.type}</code> <code>{check.name}</code>
            </p>
            <dl>
              <dt>Expected</dt>
              <dd className="mono">{check.expected}</dd>
              <dt>Found</dt>
              <dd className="mono">{check.found.length === 0 ? 'nothing' : check.found.join(', ')}</dd>
            </dl>
            {!check.ok && (
              <p className="quiet">
                <Prose text={check.message} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}
