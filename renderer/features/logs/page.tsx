import { useCapabilities } from '../../api/capabilities.ts'
import { useRuntimeLogDownload } from '../../api/downloads.ts'
import { usePreviews } from '../../api/previews.ts'
import { useProject } from '../../api/projects.ts'
import type { FollowedLog } from '../../api/runtime-log.ts'
import { useServices } from '../../api/services.ts'
import type { RuntimeState } from '../../../server/contract/deployments.ts'
import { useSearchParams } from 'wouter'
import { SkeletonRows } from '../../components/feedback.tsx'
import { useTitle } from '../../lib/use-title.ts'
import { TargetSelects } from './target-selects.tsx'
import { LogPanel } from './log-panel.tsx'
import { useRuntimeLog } from './use-runtime-log.ts'
import styles from './log-panel.module.css'

const stateLabels: Record<RuntimeState, string> = {
  starting: 'The app is starting',
  running: 'The app is running',
  cold: 'The app is asleep; viewing the log does not wake it',
  exited: 'The app has exited',
  oom: 'The app was stopped because it exceeded its memory limit',
  stopped: 'The app is stopped',
}

export default function LogsPage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  const { has_instance_api } = useCapabilities()
  useTitle(`Logs · ${project?.name ?? slug}`)
  const [params, setParams] = useSearchParams()
  const branch = params.get('branch')
  const { isLoading } = usePreviews(slug)
  const service = params.get('service')
  const { isLoading: isLoadingServices } = useServices(slug, branch)
  const { store, stream, state, deployments } = useRuntimeLog(slug, { branch, service })
  const select = (next: FollowedLog) =>
    setParams(
      { ...(next.service === null ? {} : { service: next.service }), ...(next.branch === null ? {} : { branch: next.branch }) },
      { replace: true },
    )
  const download = useRuntimeLogDownload(slug, { branch, service })
  const isDeployed = project?.status !== 'created'
  // The log's position depends on whether the selections above it are shown.
  if (isLoading || isLoadingServices) return <SkeletonRows rows={9} height={48} />
  return (
    <div className="stack">
      <div className={styles.logSources}>
        <TargetSelects target={{ slug, branch, service }} onChange={select} />
      </div>
      <LogPanel
        store={store}
        label="Runtime log"
        file={`${[slug, branch?.replaceAll('/', '-'), service].filter(Boolean).join('-')}.log`}
        download={isDeployed ? download : null}
        requestsOf={has_instance_api ? slug : null}
        empty={
          stream.name === 'connecting'
            ? 'Opening the log…'
            : isDeployed
              ? 'No output yet. The app’s output appears here live.'
              : 'Nothing is running yet. Deploy the project to see the app’s output here live.'
        }
        state={
          stream.name === 'waiting'
            ? 'Connection lost; reconnecting…'
            : stream.name === 'refused'
              ? stream.problem.message
              : state
                ? stateLabels[state]
                : isDeployed
                  ? 'Live'
                  : 'Not deployed yet'
        }
        groups={deployments.map((id) => ({ value: id, text: `Deployment …${id.slice(-6)}` }))}
      />
    </div>
  )
}
