import { Globe, KeyRound, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useSettings, useUpdateSettings } from '../../api/instance.ts'
import { useLan } from '../../api/network.ts'
import { toApiError } from '../../lib/api-error.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { SwitchField } from '../../components/field.tsx'
import { displayUrl } from '../../api/app-url.ts'
import { PasswordDialog } from './password-dialog.tsx'
import { QrCode } from './qr-code.tsx'
import styles from './page.module.css'

/** Access from the local network, protected by the owner's password, with URLs and QR codes. */
export function Lan() {
  const { data, error, isPending, refetch } = useLan()
  const { data: settings } = useSettings()
  const [dialog, setDialog] = useState<'password' | 'open' | null>(null)
  const change = useUpdateSettings()
  const isOpen = change.isPending ? (change.variables.body.lan ?? false) : (settings?.lan ?? data?.open ?? false)
  const setOpen = (lan: boolean) => {
    // Without a password, allowing access asks for one first.
    if (lan && data && !data.has_owner_password) setDialog('open')
    else change.mutate({ body: { lan } })
  }
  return (
    <section className="card" aria-labelledby="lan">
      <header className="card-header">
        <h2 id="lan">Local network</h2>
        {data && (
          <Button icon={KeyRound} onClick={() => setDialog('password')}>
            {data.has_owner_password ? 'Change password…' : 'Set password…'}
          </Button>
        )}
      </header>
      {error && (
        <div className="card-body">
          <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
        </div>
      )}
      {isPending && <SkeletonRows rows={2} height={72} />}
      {data && (
        <div className="card-body stack">
          <SwitchField
            label="Allow access from the local network"
            hint={
              isOpen
                ? 'The dashboard and live apps are reachable at this machine’s private IP addresses. Public addresses stay closed.'
                : 'Only this machine can reach the dashboard and apps. Allowing access requires a password for signing in from other devices.'
            }
            checked={isOpen}
            disabled={!settings || change.isPending}
            onChange={setOpen}
          />
          {data.open && data.warning && (
            <p className={styles.warning}>
              <TriangleAlert size={16} aria-hidden />
              <span>{data.warning}</span>
            </p>
          )}
          {data.open && <Addresses lan={data} />}
        </div>
      )}
      {dialog && (
        <PasswordDialog
          isFirst={!data?.has_owner_password}
          opensNetwork={dialog === 'open'}
          onOpenChange={() => setDialog(null)}
          onSet={() => {
            if (dialog === 'open') change.mutate({ body: { lan: true } })
            else void refetch()
          }}
        />
      )}
    </section>
  )
}

function Addresses({ lan }: { lan: NonNullable<ReturnType<typeof useLan>['data']> }) {
  if (lan.dashboard_urls.length === 0) {
    return (
      <p className="text-muted row">
        <Globe size={16} aria-hidden /> This machine has no private IP address right now. Homeport keeps checking.
      </p>
    )
  }
  return (
    <div className={styles.codes}>
      {lan.dashboard_urls.slice(0, 1).map((url) => (
        <QrCard key={url} name="This dashboard" urls={lan.dashboard_urls} />
      ))}
      {lan.projects.map(({ slug, name, urls }) => (
        <QrCard key={slug} name={name} urls={urls} />
      ))}
    </div>
  )
}

function QrCard({ name, urls }: { name: string; urls: readonly string[] }) {
  const [first] = urls
  if (first === undefined) return null
  return (
    <div className={styles.codeCard}>
      <QrCode text={first} label={`QR code for ${name}: ${first}`} />
      <strong className="truncate">{name}</strong>
      {urls.map((url) => (
        <span key={url} className={styles.codeAddress}>
          <span className="mono truncate">{displayUrl(url)}</span>
          <CopyButton text={url} label={`Copy URL of ${name}`} />
        </span>
      ))}
    </div>
  )
}
