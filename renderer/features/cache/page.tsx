import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { useOffered } from '../../api/offered.ts'
import { useProject } from '../../api/queries.ts'
import { SkeletonRows } from '../../ui/feedback.tsx'
import { useLanding } from '../frame/landing.ts'
import { useTitle } from '../frame/title.ts'
import { Inspector } from './inspector.tsx'
import { PurgeLog } from './log.tsx'
import { Purge, PurgeAllDialog } from './purge.tsx'
import { Summary } from './summary.tsx'
import { Webhook } from './webhook.tsx'
import './page.css'

/** What the edge keeps of a project, why, and how to take it out. */
export default function CachePage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Cache · ${project?.name ?? slug}`)
  const [params, setParams] = useSearchParams()
  useLanding(project !== undefined)
  const offered = useOffered()
  const [asking, setAsking] = useState(false)
  // The palette leads here with the question already put.
  const isAsked = params.get('purge') === 'all'
  const setOpen = (open: boolean) => {
    setAsking(open)
    if (isAsked) setParams({}, { replace: true })
  }
  if (!project) return <SkeletonRows rows={6} height={72} />
  return (
    <div className="stack">
      <Summary project={project} onPurgeAll={() => setAsking(true)} />
      {offered.instance && <Inspector slug={slug} />}
      <div className="cache-pair">
        <Purge slug={slug} />
        <Webhook project={project} />
      </div>
      <PurgeLog slug={slug} />
      {(asking || isAsked) && <PurgeAllDialog project={project} onOpenChange={setOpen} />}
    </div>
  )
}
