import { useQueryClient } from '@tanstack/react-query'
import type { BillingStatus } from '../../../server/contract/billing.ts'
import { useApiMutation } from '../../api/use-api-mutation.ts'
import { queryKeys } from '../../api/query-keys.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'

export function CancelSubscriptionDialog({ billing, onClose }: { billing: BillingStatus; onClose: () => void }) {
  const cache = useQueryClient()
  const cancel = useApiMutation('cancelBilling', {
    hidesErrorToast: true,
    successMessage: 'Subscription canceled. It ends with the current billing period.',
    onSuccess() {
      void cache.invalidateQueries({ queryKey: queryKeys.billing })
      onClose()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="Cancel subscription?"
      description={`You keep ${billing.plan} until the current billing period ends, then your account moves to Starter. Nothing is deleted, but features that Starter does not include stop. You can choose a plan again at any time.`}
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
