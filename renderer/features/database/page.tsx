import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { Database } from '../../../server/contract/databases.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { useDatabase, useDumps, useProvisioningSince } from '../../api/database.ts'
import { useOffered } from '../../api/offered.ts'
import { keys } from '../../api/keys.ts'
import { problemFrom } from '../../api/problem.ts'
import { useClient, useProject } from '../../api/queries.ts'
import { ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { Progress } from '../../ui/progress.tsx'
import { DeploymentNews } from '../deployments/deployment-news.tsx'
import { useLanding } from '../frame/landing.ts'
import { useTitle } from '../frame/title.ts'
import { Connection } from './connection.tsx'
import { Drop } from './drop.tsx'
import { Dumps } from './dumps.tsx'
import { Provision } from './provision.tsx'
import './page.css'

/** The PostgreSQL database of a project: how to reach it, its dumps, and its end. */
export default function DatabasePage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  const { data: database, error, refetch } = useDatabase(slug)
  useTitle(`Database · ${project?.name ?? slug}`)
  const since = useProvisioningSince(slug)
  const problem = error ? problemFrom(error) : null
  // Somebody else makes it, or its server is away: either ends by itself.
  const isAway = problem?.code === 'database_unavailable' && since === null
  if (problem && !isAway && database === undefined && since === null) return <ProblemView problem={problem} onRetry={() => void refetch()} />
  if (!project || (database === undefined && !isAway && since === null)) return <SkeletonRows rows={6} height={64} />
  return (
    <div className="stack">
      {isAway ? <Away message={problem.message} /> : problem && since === null && <ProblemView problem={problem} onRetry={() => void refetch()} />}
      {(database || !isAway) && <Found project={project} database={database ?? null} progress={problem?.message ?? null} />}
    </div>
  )
}

function Away({ message }: { message: string }) {
  return (
    <section className="card card-body stack" aria-label="Database">
      <Progress label={message} />
      <p className="faint">It is asked for again every few seconds; the page shows it when it is there.</p>
    </section>
  )
}

function Found({ project, database, progress }: { project: Project; database: Database | null; progress: string | null }) {
  const { slug } = project
  const client = useClient()
  const cache = useQueryClient()
  const offered = useOffered()
  const dumps = useDumps(slug, offered.instance)
  const [params, setParams] = useSearchParams()
  const [started, setStarted] = useState<string | null>(null)
  const [isDropped, setDropped] = useState(false)
  useLanding(dumps.data !== undefined || !offered.instance)
  // The palette leads here with the question already put.
  const wish = params.get('do')
  const answered = () => wish !== null && setParams({}, { replace: true })

  const provisioned = (deploymentId: string | null) => {
    setStarted(deploymentId)
    setDropped(false)
  }
  const dropped = async () => {
    cache.setQueryData(keys.database(slug), null)
    setDropped(true)
    setStarted(null)
    void cache.invalidateQueries({ queryKey: keys.dumps(slug) })
    // The answer has no body; the deployment that came of it is the newest by now.
    const page = await client.call('listDeployments', { params: { slug }, query: { limit: '1', target: 'production' } }).catch(() => null)
    const newest = page?.deployments[0]
    if (newest?.trigger === 'env_change') setStarted(newest.id)
  }
  return (
    <div className="stack">
      {started !== null && (
        <DeploymentNews slug={slug} id={started} onDismiss={() => setStarted(null)} words={database ? newsOfMaking : newsOfDropping} />
      )}
      {database ? (
        <Connection database={database} />
      ) : (
        <Provision project={project} isDropped={isDropped} progress={progress} onProvisioned={provisioned} />
      )}
      {offered.instance && <Dumps project={project} database={database} query={dumps} wish={wish} onAnswered={answered} />}
      {database && <Drop project={project} isAsked={wish === 'drop'} onAnswered={answered} onDropped={() => void dropped()} />}
    </div>
  )
}

const newsOfMaking = {
  running: 'A deployment runs; with it the app has DATABASE_URL.',
  ready: 'The app runs and has DATABASE_URL.',
  failed: 'The deployment failed; what ran before still runs, without DATABASE_URL.',
  canceled: 'The deployment was canceled; what ran before still runs, without DATABASE_URL.',
}
const newsOfDropping = {
  running: 'A deployment runs; with it the app is without DATABASE_URL.',
  ready: 'The app runs without DATABASE_URL.',
  failed: 'The deployment without DATABASE_URL failed; what ran before still runs, and misses its database.',
  canceled: 'The deployment without DATABASE_URL was canceled; what ran before still runs, and misses its database.',
}
