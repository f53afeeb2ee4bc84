import type { ReactNode } from 'react'
import { useInstanceSession } from '../../api/instance.ts'
import { toApiError } from '../../lib/api-error.ts'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { InstanceHeader } from './instance-header.tsx'

/** An instance page for the owner only. */
export function OwnerPage({ deniedMessage, children }: { deniedMessage: string; children: ReactNode }) {
  const { data, error, isPending, refetch } = useInstanceSession()
  const isOwner = data?.user.is_instance_owner ?? false
  return (
    <div className="page">
      <InstanceHeader />
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows rows={6} height={80} />}
      {isOwner ? children : data !== undefined && <p className="text-muted">{deniedMessage}</p>}
    </div>
  )
}
