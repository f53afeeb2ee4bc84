import { Plus, Search, Ship } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useFoundProjects } from '../../api/found-projects.ts'
import { problemFrom } from '../../api/problem.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, ProblemView, SkeletonRows } from '../../ui/feedback.tsx'
import { DropZone } from '../upload/drop-zone.tsx'
import { useOffer } from '../upload/offer.ts'
import { useTitle } from '../frame/title.ts'
import { Recovered } from '../instance/recovered.tsx'
import { TourPlace } from '../tour/place.tsx'
import { Welcome } from '../welcome/welcome.tsx'
import { ProjectList, rowHeight } from './project-list.tsx'
import './page.css'

export function ProjectsPage() {
  useTitle('Projects')
  const setNewProjectOpen = useUi((state) => state.setNewProjectOpen)
  const offer = useOffer((state) => state.offer)
  const [params, setParams] = useSearchParams()
  const query = params.get('q') ?? ''
  const words = useDeferredValue(query.trim().toLowerCase())
  const [isSoon, setSoon] = useState(false)
  const found = useFoundProjects(words, isSoon)
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch, all, shown } = found

  if (data && all.length === 0) return <Welcome />
  return (
    <DropZone
      invitation="Drop it to make a project of it"
      onDropped={(dropped) => {
        offer(dropped)
        setNewProjectOpen(true)
      }}
    >
      <div className="page">
        <header className="page-head">
          <h1>Projects</h1>
          <div className="page-actions projects-tools">
            <div className="search">
              <Search size={15} aria-hidden />
              <input
                className="input"
                type="search"
                placeholder="Name, slug or repository"
                aria-label="Search projects"
                value={query}
                onFocus={() => setSoon(true)}
                onChange={({ target }) => setParams(target.value === '' ? {} : { q: target.value }, { replace: true })}
              />
            </div>
            <Button kind="primary" icon={Plus} onClick={() => setNewProjectOpen(true)}>
              New project
            </Button>
          </div>
        </header>
        <Recovered />
        {error && <ProblemView problem={problemFrom(error)} onRetry={() => void refetch()} />}
        <div className="card projects-card" hidden={error !== null && !data}>
          {isPending && <SkeletonRows rows={8} height={rowHeight} />}
          {shown.length > 0 && (
            <ProjectList
              projects={shown}
              words={words}
              onEnd={() => !found.is_search && hasNextPage && !isFetchingNextPage && void fetchNextPage()}
            />
          )}
          {data && shown.length === 0 && !found.is_searching && (
            <Empty icon={Ship} title="No project fits" action={<Button onClick={() => setParams({}, { replace: true })}>Show all projects</Button>}>
              Nothing here has “{query}” in its name, slug or repository.
            </Empty>
          )}
        </div>
        <p className="faint projects-count" role="status">
          {data && sentence(found)}
        </p>
        {words === '' && <TourPlace />}
      </div>
    </DropZone>
  )
}

function sentence(found: ReturnType<typeof useFoundProjects>): string {
  if (found.is_searching) return `Searching; ${count(found.shown.length)} so far`
  if (found.is_search) {
    const all = `${count(found.count)} of ${count(found.total)} projects`
    return found.shown.length < found.count ? `${all}; the newest ${count(found.shown.length)} are here, one more word finds fewer` : all
  }
  const all = found.all.length
  return found.hasNextPage ? `The newest ${count(all)} projects; more come as you scroll` : `${count(all)} ${all === 1 ? 'project' : 'projects'}`
}

function count(value: number): string {
  return value.toLocaleString()
}
