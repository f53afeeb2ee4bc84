import type { Domain, Registrant } from '../../../server/contract/domains.ts'
import { useApiMutation } from '../../api/use-api-mutation.ts'
import { useDomain, useUpdateCachedDomain } from '../../api/domains.ts'
import { toProblem } from '../../lib/api-problem.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { formatDate, formatDateTime } from '../../lib/format.ts'
import { Prose } from '../../components/prose.tsx'
import { SecretDialog } from '../../components/secret-dialog.tsx'

interface Props {
  domain: Domain
  onClose: () => void
}

/** When it was added and bought, where, and for whom. */
export function DomainDetailsDialog({ domain, onClose }: Props) {
  const { data, error, refetch } = useDomain(domain.id)
  const detail = data?.domain
  return (
    <Dialog open onOpenChange={onClose} title={domain.hostname} description={`Leads to ${domain.project_name}.`}>
      {error && !data && <ProblemView problem={toProblem(error)} onRetry={() => void refetch()} />}
      {!detail && !error && <SkeletonRows rows={4} height={36} />}
      {detail && (
        <dl className="domain-facts">
          <Fact name="Added" text={formatDateTime(detail.created_at)} />
          {detail.verified_at && <Fact name="Leads here since" text={formatDateTime(detail.verified_at)} />}
          {detail.last_check_at && <Fact name="Last looked at" text={formatDateTime(detail.last_check_at)} />}
          {detail.registrar && <Fact name="Registrar" text={`${detail.registrar.name}, ${detail.registrar.reference}`} />}
          {detail.expires_at && <Fact name="Bought until" text={formatDate(detail.expires_at)} />}
          {detail.auto_renew !== null && <Fact name="Renewal" text={detail.auto_renew ? 'By itself, 30 days before' : 'None: it ends then'} />}
          {detail.transfer_requested_at && <Fact name="Moves away since" text={formatDateTime(detail.transfer_requested_at)} />}
          {detail.registrant && <Fact name="Registered for" text={formatRegistrant(detail.registrant)} />}
          {detail.registrar === null && <Fact name="Registrar" text="Your own: it was brought along" />}
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

/** The code with which another registrar takes a name over: in sight only when asked for. */
export function TransferDomainDialog({ domain, onClose }: Props) {
  const updateCachedDomain = useUpdateCachedDomain()
  const transfer = useApiMutation('transferDomain', {
    hidesErrorToast: true,
    onSuccess: (answer) => updateCachedDomain(answer.domain.id, answer.domain),
  })
  if (transfer.data) {
    const code = transfer.data.auth_code
    return (
      <SecretDialog
        title={`The code for ${domain.hostname}`}
        description="Give it to the registrar that takes the name over. It is hidden again when this is closed; who asks again gets the same one."
        secret={code}
        kind="code"
        onClose={onClose}
      >
        <p className="text-muted">
          The name does not lead here any more, and is not renewed. Until the other registrar has it you can still keep it.
        </p>
      </SecretDialog>
    )
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Take ${domain.hostname} to another registrar?`}
      description={`You get the code that the other registrar asks for; whoever has it can take the name. From then on ${domain.project_name} does not answer to it.`}
    >
      {transfer.error && <ProblemView problem={transfer.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Keep it here</Button>
        <Button kind="danger" busy={transfer.isPending} onClick={() => transfer.mutate({ params: { id: domain.id } })}>
          Show the code
        </Button>
      </footer>
    </Dialog>
  )
}

/** A look at a name that is on its way out calls it back, when it leads here. */
export function KeepDomainDialog({ domain, onClose }: Props) {
  const updateCachedDomain = useUpdateCachedDomain()
  const showToast = useUi((state) => state.showToast)
  const keep = useApiMutation('verifyDomain', {
    hidesErrorToast: true,
    onSuccess(answer) {
      updateCachedDomain(answer.domain.id, answer.domain)
      if (answer.domain.status !== 'verified') return
      showToast({ kind: 'done', text: `${domain.hostname} stays, and leads here again.`, request_id: null })
      onClose()
    },
  })
  const failureReason =
    keep.data && keep.data.domain.status !== 'verified' ? (keep.data.domain.last_check_error ?? 'The name does not lead here.') : null
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Keep ${domain.hostname}?`}
      description="When its record names this place, it leads here again and is renewed as before."
    >
      {keep.error && <ProblemView problem={keep.error} />}
      {failureReason !== null && (
        <p className="text-muted" role="alert">
          <Prose text={failureReason} />
        </p>
      )}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Let it move</Button>
        <Button kind="primary" busy={keep.isPending} onClick={() => keep.mutate({ params: { id: domain.id } })}>
          Cancel
        </Button>
      </footer>
    </Dialog>
  )
}

export function DeleteDomainDialog({ domain, onClose }: Props) {
  const updateCachedDomain = useUpdateCachedDomain()
  const remove = useApiMutation('deleteDomain', {
    hidesErrorToast: true,
    successMessage: `${domain.hostname} is taken away.`,
    onSuccess() {
      onClose()
      updateCachedDomain(domain.id, null)
    },
  })
  const isBought = domain.account_owned_domain_id !== null
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Take ${domain.hostname} away?`}
      description={`${domain.project_name} answers to it no longer, from this moment on. ${
        isBought && domain.expires_at !== null
          ? `The name stays yours until ${formatDate(domain.expires_at)}: add it again, here or to another project.`
          : 'It can be added again, and is then checked again.'
      }`}
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { id: domain.id } })}>
          Take it away
        </Button>
      </footer>
    </Dialog>
  )
}
