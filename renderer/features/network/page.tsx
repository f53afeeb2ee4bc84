import { useInstance } from '../../api/queries.ts'
import { problemFrom } from '../../api/problem.ts'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { useTitle } from '../frame/title.ts'
import { InstanceHead } from '../instance/instance-head.tsx'
import { HostsFile } from './hosts-file.tsx'
import { Https } from './https.tsx'
import { Lan } from './lan.tsx'
import './page.css'

/** How the instance is reached: over HTTPS, by its names, and from the network around it. */
export default function NetworkPage() {
  useTitle('Network')
  const { data, error, isPending, refetch } = useInstance()
  return (
    <div className="page">
      <InstanceHead />
      {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      {isPending && <SkeletonRows rows={6} height={80} />}
      {data?.user.is_instance_owner ? (
        <>
          <Lan />
          <Https />
          <HostsFile />
        </>
      ) : (
        data !== undefined && <p className="quiet">How this instance is reached is its owner’s business.</p>
      )}
    </div>
  )
}
