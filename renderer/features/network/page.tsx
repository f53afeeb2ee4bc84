import { useHostsFile, useHttps, useInstance, useLan } from '../../api/queries.ts'
import { problemFrom } from '../../api/problem.ts'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { useTogether } from '../../ui/together.ts'
import { useLanding } from '../frame/landing.ts'
import { useTitle } from '../frame/title.ts'
import { InstanceHead } from '../instance/instance-head.tsx'
import { HostsFile } from './hosts-file.tsx'
import { Https } from './https.tsx'
import { Lan } from './lan.tsx'
import './page.css'

/** How the instance is reached: over HTTPS, by its names, and from the network around it. */
export default function NetworkPage() {
  useTitle('Network')
  const session = useInstance()
  const { data, error, refetch } = session
  // Where a part begins is known when those above it are drawn.
  const isOwner = data?.user.is_instance_owner ?? false
  const parts = [useLan(isOwner), useHttps(isOwner), useHostsFile(isOwner)]
  useLanding(parts.every((query) => query.data !== undefined))
  // They are drawn together: none of them pushes another one down.
  const isComing = useTogether([session, ...parts])
  return (
    <div className="page">
      <InstanceHead />
      {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
      {isComing ? (
        <SkeletonRows rows={6} height={80} />
      ) : isOwner ? (
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
