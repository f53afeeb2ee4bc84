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
    successMessage: 'The subscription ends with the period that is paid.',
    onSuccess() {
      void cache.invalidateQueries({ queryKey: queryKeys.billing })
      onClose()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title="End the subscription?"
      description={`${billing.plan} stays until the period that is paid is over; then the account goes to starter. Nothing is deleted, but what starter does not allow ends. Until then a plan can be chosen again.`}
    >
      {cancel.error && <ProblemView problem={cancel.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Keep plan</Button>
        <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate({})}>
          End subscription
        </Button>
      </footer>
    </Dialog>
  )
}
