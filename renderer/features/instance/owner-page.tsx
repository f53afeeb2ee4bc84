import type { ReactNode } from 'react'
import { problemFrom } from '../../api/problem.ts'
import { useInstance } from '../../api/queries.ts'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { InstanceHead } from './instance-head.tsx'

/** A page under the head of the instance that only its owner sees. */
export function OwnerPage({ refusal, children }: { refusal: string; children: ReactNode }) {
  const { data, error, isPending, refetch } = useInstance()
  const isOwner = data?.user.is_instance_owner ?? false
  return (
    <div className="page">
      <InstanceHead />
      {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows rows={6} height={80} />}
      {isOwner ? children : data !== undefined && <p className="quiet">{refusal}</p>}
    </div>
  )
}
