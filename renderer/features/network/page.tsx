import { useInstanceSession } from '../../api/instance.ts'
import { useHostsFile, useHttps, useLan, usePublicNames } from '../../api/network.ts'
import { toApiError } from '../../lib/api-error.ts'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { useInitialLoading } from '../../lib/use-initial-loading.ts'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { useTitle } from '../../lib/use-title.ts'
import { InstanceHeader } from '../instance/index.ts'
import { HostsFile } from './hosts-file.tsx'
import { Https } from './https.tsx'
import { Lan } from './lan.tsx'
import { PublicNamesCard } from './public-names.tsx'

/** Network settings: HTTPS, hosts file and local network access. */
export default function NetworkPage() {
  useTitle('Network')
  const session = useInstanceSession()
  const { data, error, refetch } = session
  // Scroll positions are known only after the sections above are rendered.
  const isOwner = data?.user.is_instance_owner ?? false
  const parts = [useLan(isOwner), useHttps(isOwner), useHostsFile(isOwner)]
  const publicNames = usePublicNames(isOwner)
  useScrollToSection(parts.every((query) => query.data !== undefined))
  // All sections render together, so that none of them shifts another.
  const isLoading = useInitialLoading([session, publicNames, ...parts])
  return (
    <div className="page">
      <InstanceHeader />
      {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
      {isLoading ? (
        <SkeletonRows rows={6} height={80} />
      ) : isOwner ? (
        <>
          <Lan />
          <Https />
          {publicNames.data && <PublicNamesCard names={publicNames.data} />}
          <HostsFile />
        </>
      ) : (
        data !== undefined && <p className="text-muted">Only the instance owner can see network settings.</p>
      )}
    </div>
  )
}
