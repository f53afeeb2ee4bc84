import type { Domain, Registrant } from '../../../server/contract/domains.ts'
import { useAction } from '../../api/actions.ts'
import { useDomain, usePutDomain } from '../../api/domains.ts'
import { problemFrom } from '../../api/problem.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { day, exactTime } from '../../ui/format.ts'
import { Prose } from '../../ui/prose.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'

interface Props {
  domain: Domain
  onClose: () => void
}

/** When it was added and bought, where, and for whom. */
export function AboutDialog({ domain, onClose }: Props) {
  const { data, error, refetch } = useDomain(domain.id)
  const detail = data?.domain
  return (
    <Dialog open onOpenChange={onClose} title={domain.hostname} about={`Leads to ${domain.project_name}.`}>
      {error && !data && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      {!detail && !error && <SkeletonRows rows={4} height={36} />}
      {detail && (
        <dl className="domain-facts">
          <Fact name="Added" text={exactTime(detail.created_at)} />
          {detail.verified_at && <Fact name="Leads here since" text={exactTime(detail.verified_at)} />}
          {detail.last_check_at && <Fact name="Last looked at" text={exactTime(detail.last_check_at)} />}
          {detail.registrar && <Fact name="Registrar" text={`${detail.registrar.name}, ${detail.registrar.reference}`} />}
          {detail.expires_at && <Fact name="Bought until" text={day(detail.expires_at)} />}
          {detail.auto_renew !== null && <Fact name="Renewal" text={detail.auto_renew ? 'By itself, 30 days before' : 'None: it ends then'} />}
          {detail.transfer_requested_at && <Fact name="Moves away since" text={exactTime(detail.transfer_requested_at)} />}
          {detail.registrant && <Fact name="Registered for" text={asAddress(detail.registrant)} />}
          {detail.registrar === null && <Fact name="Registrar" text="Your own: it was brought along" />}
        </dl>
      )}
      <footer className="dialog-foot">
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

function asAddress({ name, email, phone, address, postal_code, city, country }: Registrant): string {
  return [name, address, `${postal_code} ${city}`, country, email, phone].join('\n')
}

/** The code with which another registrar takes a name over: in sight only when asked for. */
export function TransferDialog({ domain, onClose }: Props) {
  const put = usePutDomain()
  const transfer = useAction('transferDomain', { quiet: true, onDone: (answer) => put(answer.domain.id, answer.domain) })
  if (transfer.data) {
    const code = transfer.data.auth_code
    return (
      <SecretDialog
        title={`The code for ${domain.hostname}`}
        about="Give it to the registrar that takes the name over. It is hidden again when this is closed; who asks again gets the same one."
        secret={code}
        kind="code"
        onClose={onClose}
      >
        <p className="quiet">The name does not lead here any more, and is not renewed. Until the other registrar has it you can still keep it.</p>
      </SecretDialog>
    )
  }
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Take ${domain.hostname} to another registrar?`}
      about={`You get the code that the other registrar asks for; whoever has it can take the name. From then on ${domain.project_name} does not answer to it.`}
    >
      {transfer.error && <ProblemView problem={transfer.error} />}
      <footer className="dialog-foot">
        <Button onClick={onClose}>Keep it here</Button>
        <Button kind="danger" busy={transfer.isPending} onClick={() => transfer.mutate({ params: { id: domain.id } })}>
          Show the code
        </Button>
      </footer>
    </Dialog>
  )
}

/** A look at a name that is on its way out calls it back, when it leads here. */
export function KeepDialog({ domain, onClose }: Props) {
  const put = usePutDomain()
  const showToast = useUi((state) => state.showToast)
  const keep = useAction('verifyDomain', {
    quiet: true,
    onDone(answer) {
      put(answer.domain.id, answer.domain)
      if (answer.domain.status !== 'verified') return
      showToast({ kind: 'done', text: `${domain.hostname} stays, and leads here again.`, request_id: null })
      onClose()
    },
  })
  const fault = keep.data && keep.data.domain.status !== 'verified' ? (keep.data.domain.last_check_error ?? 'The name does not lead here.') : null
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Keep ${domain.hostname}?`}
      about="When its record names this place, it leads here again and is renewed as before."
    >
      {keep.error && <ProblemView problem={keep.error} />}
      {fault !== null && (
        <p className="quiet" role="alert">
          <Prose text={fault} />
        </p>
      )}
      <footer className="dialog-foot">
        <Button onClick={onClose}>Let it move</Button>
        <Button kind="primary" busy={keep.isPending} onClick={() => keep.mutate({ params: { id: domain.id } })}>
          Cancel
        </Button>
      </footer>
    </Dialog>
  )
}

export function DeleteDialog({ domain, onClose }: Props) {
  const put = usePutDomain()
  const remove = useAction('deleteDomain', {
    quiet: true,
    done: `${domain.hostname} is taken away.`,
    onDone() {
      onClose()
      put(domain.id, null)
    },
  })
  const isBought = domain.account_owned_domain_id !== null
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Take ${domain.hostname} away?`}
      about={`${domain.project_name} answers to it no longer, from this moment on. ${
        isBought && domain.expires_at !== null
          ? `The name stays yours until ${day(domain.expires_at)}: add it again, here or to another project.`
          : 'It can be added again, and is then checked again.'
      }`}
    >
      {remove.error && <ProblemView problem={remove.error} />}
      <footer className="dialog-foot">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate({ params: { id: domain.id } })}>
          Take it away
        </Button>
      </footer>
    </Dialog>
  )
}
