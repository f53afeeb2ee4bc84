import { useDeleteDomain, useDomain, useTransferDomain, useVerifyDomain } from '../../api/domains.ts'
import type { Domain, Registrant } from '../../../server/contract/domains.ts'
import { toApiError } from '../../lib/api-error.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { formatDate, formatDateTime } from '../../lib/format.ts'
import { Prose } from '../../components/prose.tsx'
import { SecretDialog } from '../../components/secret-dialog.tsx'
import styles from './page.module.css'

interface Props {
  domain: Domain
  onClose: () => void
}

/** Registration details: dates, registrar and registrant. */
export function DomainDetailsDialog({ domain, onClose }: Props) {
  const { data, error, refetch } = useDomain(domain.id)
  const detail = data?.domain
  return (
    <Dialog open onOpenChange={onClose} title={domain.hostname} description={`Points to ${domain.project_name}.`}>
      {error && !data && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {!detail && !error && <SkeletonRows rows={4} height={36} />}
      {detail && (
        <dl className={styles.domainFacts}>
          <Fact name="Added" text={formatDateTime(detail.created_at)} />
          {detail.verified_at && <Fact name="Verified" text={formatDateTime(detail.verified_at)} />}
          {detail.last_check_at && <Fact name="Last checked" text={formatDateTime(detail.last_check_at)} />}
          {detail.registrar && <Fact name="Registrar" text={`${detail.registrar.name}, ${detail.registrar.reference}`} />}
          {detail.expires_at && <Fact name="Expires" text={formatDate(detail.expires_at)} />}
          {detail.auto_renew !== null && <Fact name="Renewal" text={detail.auto_renew ? 'Automatic, 30 days before expiry' : 'Off'} />}
          {detail.transfer_requested_at && <Fact name="Transfer started" text={formatDateTime(detail.transfer_requested_at)} />}
          {detail.registrant && <Fact name="Registrant" text={formatRegistrant(detail.registrant)} />}
          {detail.registrar === null && <Fact name="Registrar" text="External" />}
        </dl>
      )}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Close</Button>
      </footer>
    </Dialog>
  )
}

function Fact({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </div>
  )
}

function formatRegistrant({ name, email, phone, address, postal_code, city, country }: Registrant): string {
  return [name, address, `${postal_code} ${city}`, country, email, phone].join('\n')
}

/** The transfer code for another registrar, shown only on request. */
export function TransferDomainDialog({ domain, onClose }: Props) {
  const transfer = useTransferDomain({ hidesErrorToast: true })
  if (transfer.data) {
    const code = transfer.data.auth_code
    return (
      <SecretDialog
        title={`Transfer code for ${domain.hostname}`}
        description="Give it to the new registrar. It is hidden when you close this dialog; you can show it again."
        secret={code}
        kind="code"
        onClose={onClose}
      >
        <p className="text-muted">The domain no longer points here and is not renewed. You can keep it until the transfer completes.</p>
      </SecretDialog>
    )
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Transfer ${domain.hostname} to another registrar?`}
      description={`You get a transfer code for the new registrar. Anyone with the code can transfer the domain. It stops pointing to ${domain.project_name} immediately.`}
    >
      {transfer.error && <ProblemView problem={transfer.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={transfer.isPending} onClick={() => transfer.mutate({ params: { id: domain.id } })}>
          Start transfer
        </Button>
      </footer>
    </Dialog>
  )
}

/** Verifying a domain that is being transferred out cancels the transfer, if its DNS record is correct. */
export function KeepDomainDialog({ domain, onClose }: Props) {
  const showToast = useUi((state) => state.showToast)
  const keep = useVerifyDomain({
    hidesErrorToast: true,
    onSuccess(answer) {
      if (answer.domain.status !== 'verified') return
      showToast({ kind: 'done', text: `Transfer canceled. ${domain.hostname} points here again.`, request_id: null })
      onClose()
    },
  })
  const failureReason =
    keep.data && keep.data.domain.status !== 'verified' ? (keep.data.domain.last_check_error ?? 'The domain does not point here.') : null
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Cancel the transfer of ${domain.hostname}?`}
      description="Cancels the transfer. The domain points here again once its record is correct, and is renewed as before."
    >
      {keep.error && <ProblemView problem={keep.error} />}
      {failureReason !== null && (
        <p className="text-muted" role="alert">
          <Prose text={failureReason} />
        </p>
      )}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Keep transferring</Button>
        <Button kind="primary" busy={keep.isPending} onClick={() => keep.mutate({ params: { id: domain.id } })}>
          Cancel transfer
        </Button>
      </footer>
    </Dialog>
  )
}

export function DeleteDomainDialog({ domain, onClose }: Props) {
  const remove = useDeleteDomain({
    hidesErrorToast: true,
    successMessage: `${domain.hostname} removed.`,
    onSuccess: onClose,
  })
  const isBought = domain.account_owned_domain_id !== null
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Remove ${domain.hostname}?`}
      description={`It stops pointing to ${domain.project_name} immediately. ${
        isBought && domain.expires_at !== null
          ? `The domain stays yours until ${formatDate(domain.expires_at)}: you can add it again to any project.`
          : 'You can add it again later; it is then verified again.'
      }`}
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { id: domain.id } })}>
          Remove domain
        </Button>
      </footer>
    </Dialog>
  )
}
