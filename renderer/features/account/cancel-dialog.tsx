import { useCancelBilling } from '../../api/billing.ts'
import { planLabels } from '../../../server/contract/labels.ts'
import type { BillingStatus } from '../../../server/contract/billing.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'

export function CancelSubscriptionDialog({ billing, onClose }: { billing: BillingStatus; onClose: () => void }) {
  const cancel = useCancelBilling({
    hidesErrorToast: true,
    successMessage: 'Subscription canceled. It ends with the current billing period.',
    onSuccess: onClose,
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Cancel subscription?"
      description={`You keep ${planLabels[billing.plan]} until the current billing period ends, then your account moves to Starter. Nothing is deleted, but features that Starter does not include stop. You can choose a plan again at any time.`}
    >
      {cancel.error && <ProblemView problem={cancel.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Keep plan</Button>
        <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate({})}>
          Cancel subscription
        </Button>
      </footer>
    </Dialog>
  )
}
