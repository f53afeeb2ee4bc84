import { Plus, Search, Ship } from 'lucide-react'
import { useDeferredValue, useEffect, useMemo, useState } from 'react'
import { useSearchParams } from 'wouter'
import { isFound, wordsOf } from '../../api/find-project.ts'
import { problemFrom } from '../../api/problem.ts'
import { useProjects } from '../../api/queries.ts'
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
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = useProjects()
  const [params, setParams] = useSearchParams()
  const query = params.get('q') ?? ''
  const words = useDeferredValue(query.trim().toLowerCase())
  const [isSearching, setSearching] = useState(words !== '')

  const all = useMemo(() => data?.pages.flatMap((page) => page.projects) ?? [], [data])
  const shown = useMemo(() => {
    const sought = wordsOf(words)
    return sought.length === 0 ? all : all.filter((project) => isFound(project, sought))
  }, [all, words])

  // The platform lists but does not search: to find among all, all have to be here. They begin to come when somebody is about to
  // type; they stay, and the stream keeps them true.
  const bringsAll = isSearching || words !== ''
  useEffect(() => {
    if (bringsAll && hasNextPage && !isFetchingNextPage && !error) void fetchNextPage()
  }, [bringsAll, hasNextPage, isFetchingNextPage, error, fetchNextPage])

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
                onFocus={() => setSearching(true)}
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
            <ProjectList projects={shown} words={words} onEnd={() => hasNextPage && !isFetchingNextPage && void fetchNextPage()} />
          )}
          {data && shown.length === 0 && !hasNextPage && (
            <Empty icon={Ship} title="No project fits" action={<Button onClick={() => setParams({}, { replace: true })}>Show all projects</Button>}>
              Nothing here has “{query}” in its name, slug or repository.
            </Empty>
          )}
        </div>
        <p className="faint projects-count" role="status">
          {words !== '' && hasNextPage
            ? `Searching; ${count(all.length)} projects so far`
            : data && sentence(shown.length, all.length, words !== '', hasNextPage)}
        </p>
        {words === '' && <TourPlace />}
      </div>
    </DropZone>
  )
}

function sentence(shown: number, all: number, searching: boolean, more: boolean): string {
  if (searching) return `${count(shown)} of ${count(all)} projects`
  return more ? `The newest ${count(all)} projects; more come as you scroll` : `${count(all)} ${all === 1 ? 'project' : 'projects'}`
}

function count(value: number): string {
  return value.toLocaleString()
}
