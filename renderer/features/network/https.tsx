import { ShieldCheck, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useSettings, useUpdateSettings } from '../../api/instance.ts'
import { useHttps, useRemoveAuthority, useTrustAuthority } from '../../api/network.ts'
import type { HttpsStatus } from '../../../server/contract/network.ts'
import type { CallOutput } from '../../../server/client/operation-types.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton, CopyText } from '../../components/copy.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SwitchField } from '../../components/field.tsx'
import { formatDateTime } from '../../lib/format.ts'
import { Prose } from '../../components/prose.tsx'
import { type StatusBadgeData, StatusText } from '../../components/status.tsx'
import styles from './page.module.css'

const trustBadges: Record<HttpsStatus['trust'][number]['status'], StatusBadgeData> = {
  trusted: { label: 'Trusted', shape: 'disc', tone: 'live' },
  not_trusted: { label: 'Not trusted', shape: 'ring', tone: 'busy' },
  unavailable: { label: 'Not available', shape: 'dash', tone: 'idle' },
}

/** HTTPS for all local names, with a certificate authority of this instance that the owner can trust. */
export function Https() {
  const { data, error, isPending, refetch } = useHttps()
  const { data: settings } = useSettings()
  const [messages, setMessages] = useState<string[]>([])
  const [removing, setRemoving] = useState(false)
  const applyStatus = (answer: CallOutput<'trustAuthority'>) => {
    setMessages(answer.messages)
    setRemoving(false)
  }
  const trust = useTrustAuthority({ onSuccess: applyStatus })
  const remove = useRemoveAuthority({ onSuccess: applyStatus })
  const change = useUpdateSettings()
  const isTrusted = data?.trust.some(({ status }) => status === 'trusted') ?? false
  const redirects = change.isPending ? (change.variables.body.https_redirect ?? false) : (settings?.https_redirect ?? false)

  return (
    <section className="card" aria-labelledby="https">
      <header className="card-header">
        <h2 id="https">HTTPS</h2>
        <div className="page-actions">
          {data?.authority && (
            <Button icon={Trash2} onClick={() => setRemoving(true)}>
              Remove…
            </Button>
          )}
          <Button kind={isTrusted ? 'plain' : 'primary'} icon={ShieldCheck} busy={trust.isPending} disabled={!data} onClick={() => trust.mutate({})}>
            {isTrusted ? 'Trust again' : 'Trust on this machine'}
          </Button>
        </div>
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={3} height={52} />}
      {data && (
        <>
          <p className="card-body text-muted">
            Every app is also served over HTTPS, with a certificate signed by this instance’s certificate authority. Browsers accept it once this
            machine trusts the authority. Its private key never leaves this machine.
          </p>
          {messages.length > 0 && (
            <div className={styles.networkRow} role="status">
              <strong>Just now</strong>
              <div className={styles.messages}>
                {messages.map((message) => (
                  <p key={message}>
                    <Prose text={message} />
                  </p>
                ))}
              </div>
            </div>
          )}
          <div className={styles.networkRow}>
            <span className="text-subtle">HTTPS address</span>
            {data.edge_https_url ? <span className="mono">{data.edge_https_url}</span> : <span>None: the HTTPS port is in use</span>}
          </div>
          <div className={styles.networkRow}>
            <span className="text-subtle">Authority</span>
            {data.authority ? (
              <div>
                <span>{data.authority.subject}</span>
                <span className={styles.fingerprint}>
                  <CopyText text={data.authority.fingerprint_sha256} />
                </span>
                <span className="text-subtle">
                  created {formatDateTime(data.authority.created_at)}, valid until {formatDateTime(data.authority.expires_at)}
                </span>
              </div>
            ) : (
              <span>None yet; it is created when first needed</span>
            )}
          </div>
          {data.trust.map(({ store, status, command }) => (
            <div className={styles.networkRow} key={store}>
              <StatusText badge={trustBadges[status]} />
              <div>
                <span>{store}</span>
                {command && status !== 'trusted' && (
                  <span className="command">
                    <code>{command}</code>
                    <CopyButton text={command} label={`Copy command for ${store}`} />
                  </span>
                )}
              </div>
            </div>
          ))}
          <div className={`card-body ${styles.networkSwitch}`}>
            <SwitchField
              label="Redirect HTTP to HTTPS"
              hint={isTrusted ? 'For every app of this instance.' : 'Trust the authority first, otherwise browsers warn on every page.'}
              checked={redirects}
              disabled={!settings || data.edge_https_url === null}
              onChange={(https_redirect) => change.mutate({ body: { https_redirect } })}
            />
          </div>
        </>
      )}
      <Dialog
        open={removing}
        onOpenChange={setRemoving}
        title="Remove certificate authority?"
        description="Removes it from every trust store of this machine and destroys its key. Browsers warn about HTTPS until you trust a new authority."
      >
        <footer className="dialog-footer">
          <Button onClick={() => setRemoving(false)}>Cancel</Button>
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({})}>
            Remove authority
          </Button>
        </footer>
      </Dialog>
    </section>
  )
}
