import { useState } from 'react'
import { useSearchParams } from 'wouter'
import { useProject } from '../../api/projects.ts'
import { useCapabilities } from '../../api/capabilities.ts'
import { SkeletonRows } from '../../components/feedback.tsx'
import { useScrollToSection } from '../../lib/use-scroll-to-section.ts'
import { useTitle } from '../../lib/use-title.ts'
import { Inspector } from './inspector.tsx'
import { PurgeLog } from './purge-log.tsx'
import { Purge, PurgeAllDialog } from './purge.tsx'
import { Summary } from './summary.tsx'
import { Webhook } from './webhook.tsx'
import styles from './page.module.css'

/** The edge cache of a project: statistics, inspector and purge. */
export default function CachePage({ slug }: { slug: string }) {
  const { data: project } = useProject(slug)
  useTitle(`Cache · ${project?.name ?? slug}`)
  const [params, setParams] = useSearchParams()
  useScrollToSection(project !== undefined)
  const capabilities = useCapabilities()
  const [isOpen, setIsOpen] = useState(false)
  // The palette opens the purge dialog with this parameter.
  const isRequested = params.get('purge') === 'all'
  const setOpen = (open: boolean) => {
    setIsOpen(open)
    if (isRequested) setParams({}, { replace: true })
  }
  if (!project) return <SkeletonRows rows={6} height={72} />
  return (
    <div className="stack">
      <Summary project={project} onPurgeAll={() => setIsOpen(true)} />
      {capabilities.has_instance_api && <Inspector slug={slug} />}
      <div className={styles.cachePair}>
        <Purge slug={slug} />
        <Webhook project={project} />
      </div>
      <PurgeLog slug={slug} />
      {(isOpen || isRequested) && <PurgeAllDialog project={project} onOpenChange={setOpen} />}
    </div>
  )
}
