import { useCapabilities } from '../../api/capabilities.ts'
import { useRuntimeLogDownload } from '../../api/downloads.ts'
import { useDeployments } from '../../api/deployments.ts'
import { usePreviews } from '../../api/previews.ts'
import { useProject } from '../../api/projects.ts'
import type { FollowedLog } from '../../api/runtime-log.ts'
import { useServices } from '../../api/services.ts'
import type { RuntimeState } from '../../../server/contract/deployments.ts'
import { CalendarSearch, Search } from 'lucide-react'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { numberedTitle } from '../../components/deployment-line.tsx'
import { Button } from '../../components/button.tsx'
import { SkeletonRows } from '../../components/feedback.tsx'
import { FilterSelect } from '../../components/filter-select.tsx'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { useTitle } from '../../lib/use-title.ts'
import { JumpDialog } from './jump-dialog.tsx'
import { LogHistory } from './log-history.tsx'
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
  const { params, change, replace } = useQueryParams()
  const branch = params.get('branch')
  const [isJumping, setJumping] = useState(false)
  const [, navigate] = useLocation()
  const { isLoading } = usePreviews(slug)
  const service = params.get('service')
  const { data: listed, isLoading: isLoadingServices } = useServices(slug, branch)
  const shown = listed?.services.find((one) => (service === null ? one.is_main : one.name === service))
  const number = /^\d{1,2}$/.exec(params.get('replica') ?? '')?.[0] ?? null
  const replica = number === null || shown === undefined ? null : { service: shown.name, number }
  const titles = useDeploymentTitles(slug)
  const { store, stream, state, deployments } = useRuntimeLog(slug, { branch, service, replica }, titles)
  const replicas = [...new Set([...(shown?.replicas ?? []).map((one) => String(one.replica)), ...(number === null ? [] : [number])])]
  const select = ({ service: nextService, branch: nextBranch }: FollowedLog) => replace({ service: nextService, branch: nextBranch })
  const download = useRuntimeLogDownload(slug, { branch, service })
  const isDeployed = project?.status !== 'created'
  const file = `${[slug, branch?.replaceAll('/', '-'), service].filter(Boolean).join('-')}.log`
  const deployment = params.get('deployment')
  const [at, around] = [params.get('at'), params.get('around')]
  if (at !== null || around !== null)
    return (
      <div className="stack">
        <LogHistory
          slug={slug}
          name={{ ...(branch !== null && { branch }), ...(service !== null && { service }), ...(deployment !== null && { deployment }) }}
          position={at === null ? { around: around ?? '' } : { at }}
          file={file}
          onClose={() => (deployment === null ? select({ branch, service }) : navigate(`/projects/${slug}/deployments/${deployment}`))}
        />
      </div>
    )
  // The log's position depends on whether the selections above it are shown.
  if (isLoading || isLoadingServices) return <SkeletonRows rows={9} height={48} />
  return (
    <div className="stack">
      <div className={styles.logSources}>
        <TargetSelects target={{ slug, branch, service }} onChange={select} />
        {replicas.length > 0 && (
          <FilterSelect
            label="Replica"
            all="All replicas"
            value={number ?? ''}
            choices={Object.fromEntries(replicas.map((one) => [one, `Replica ${one}`]))}
            onChange={(value) => change({ replica: value })}
          />
        )}
        {has_instance_api && isDeployed && (
          <>
            <Button icon={CalendarSearch} onClick={() => setJumping(true)}>
              Jump to time…
            </Button>
            <Link className="button button-plain" href={`/logs?project=${slug}`}>
              <Search size={15} aria-hidden />
              <span>Search all logs</span>
            </Link>
          </>
        )}
      </div>
      <LogPanel
        store={store}
        label="Runtime log"
        file={file}
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
        groups={deployments.map((id) => ({ value: id, text: titles?.get(id) ?? `Deployment …${id.slice(-6)}` }))}
        showsTimes
      />
      {isJumping && (
        <JumpDialog
          onClose={() => setJumping(false)}
          onJump={(time) => {
            setJumping(false)
            navigate(`/projects/${slug}/logs?${new URLSearchParams([...params, ['at', time]]).toString()}`)
          }}
        />
      )}
    </div>
  )
}

/** Titles of the newest deployments, by ID; null while they are loaded. */
function useDeploymentTitles(slug: string): ReadonlyMap<string, string> | null {
  const { data, isLoading } = useDeployments(slug, {})
  if (isLoading) return null
  const listed = data?.pages.flatMap((page) => page.deployments) ?? []
  return new Map(listed.map((one) => [one.id, numberedTitle(one)]))
}
