import { useCallback, useEffect } from 'react'
import { useVerifyDomain } from '../../api/domains.ts'
import { useInstanceSession } from '../../api/instance.ts'
import type { Domain } from '../../../server/contract/domains.ts'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { Button, ButtonLink } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { Prose } from '../../components/prose.tsx'
import { StatusIcon, checkBadges } from '../../components/status.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { domainUrl, dnsHostLabel, addressScope } from './domain-format.ts'
import styles from './page.module.css'

type DnsCheck = CallOutput<'verifyDomain'>['checks'][number]

// DNS changes take minutes, so the check repeats while the dialog is open.
const recheckInterval_ms = 15_000

/** The DNS record to create and the result of each check, until the domain is verified. */
export function DnsRecordCheck({ domain, platformIp, onClose }: { domain: Domain; platformIp: string; onClose: () => void }) {
  const edgeUrl = useInstanceSession().data?.instance.edge_url
  const { mutate, data, error, isPending } = useVerifyDomain({ hidesErrorToast: true })
  const current = data?.domain ?? domain
  const isVerified = current.status === 'verified'
  const verify = useCallback(() => mutate({ params: { id: domain.id } }), [mutate, domain.id])
  const isWaiting = data !== undefined && !isVerified
  useEffect(() => {
    if (!isWaiting) return
    const timer = setInterval(() => document.visibilityState === 'visible' && verify(), recheckInterval_ms)
    return () => clearInterval(timer)
  }, [isWaiting, verify])
  const address = edgeUrl === undefined ? null : domainUrl(domain.hostname, edgeUrl)
  return (
    <>
      {!isVerified && <RequiredDnsRecord hostname={domain.hostname} address={platformIp} />}
      {isVerified && (
        <p className={styles.domainSuccess} role="status">
          <StatusIcon badge={checkBadges.ok} size={14} />
          <span>
            <strong>{domain.hostname}</strong> points here and serves the project.
          </span>
        </p>
      )}
      {data && <DnsCheckResults checks={data.checks} />}
      {!data && current.last_check_at !== null && (
        <p className="text-muted" role="status">
          Last checked <RelativeTime at={current.last_check_at} />
          {current.last_check_error ? ': ' : '.'}
          {current.last_check_error && <Prose text={current.last_check_error} />}
        </p>
      )}
      {isWaiting && (
        <p className="text-subtle">
          A new record can take a few minutes; a changed one takes as long as its previous TTL. This dialog checks again automatically.
        </p>
      )}
      {error && <ProblemView problem={error} />}
      <footer className="dialog-footer">
        {isVerified && address && (
          <ButtonLink href={address} kind="plain">
            Open domain
          </ButtonLink>
        )}
        <Button onClick={onClose}>{isVerified ? 'Done' : 'Later'}</Button>
        <Button kind={isVerified ? 'plain' : 'primary'} busy={isPending} onClick={verify}>
          {isVerified ? 'Check again' : 'Check now'}
        </Button>
      </footer>
    </>
  )
}

function RequiredDnsRecord({ hostname, address }: { hostname: string; address: string }) {
  const hostLabel = dnsHostLabel(hostname)
  const scope = addressScope(address)
  return (
    <div className="stack">
      <p>At your DNS provider, create this record and remove other A, AAAA and CNAME records of the same name:</p>
      <dl className={styles.domainRecord} aria-label="DNS record">
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
            <CopyButton text={hostname} label="Copy name" />
          </dd>
        </div>
        <div>
          <dt>Value</dt>
          <dd>
            <code>{address}</code>
            <CopyButton text={address} label="Copy value" />
          </dd>
        </div>
      </dl>
      <p className="text-subtle">
        Some registrars expect only the part before the domain: <code>{hostLabel}</code>
        {hostLabel === '@' ? ', which means the domain itself.' : '.'}
        {scope === 'machine' && ' The value is this machine’s loopback address, so the domain works only on this machine.'}
        {scope === 'network' && ' The value is a private address, so the domain works only within your network.'}
      </p>
    </div>
  )
}

function DnsCheckResults({ checks }: { checks: readonly DnsCheck[] }) {
  return (
    <ul className={styles.domainChecks} aria-label="DNS check results">
      {checks.map((check) => (
        <li key={`${check.type} ${check.name} ${check.expected}`}>
          <StatusIcon badge={checkBadges[check.ok ? 'ok' : 'failed']} label={check.ok ? 'Correct' : 'Incorrect'} />
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
              <p className="text-muted">
                <Prose text={check.message} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  )
}
