import { Plus, Search, Ship } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { useSearchParams } from 'wouter'
import { useProjectSearch } from '../../api/project-search.ts'
import { toApiError } from '../../lib/api-error.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { DropZone } from '../upload/index.ts'
import { useDroppedSource } from '../../stores/dropped-source.ts'
import { useTitle } from '../../lib/use-title.ts'
import { RecoveryNotice } from '../instance/index.ts'
import { TourSlot } from '../tour/index.ts'
import { Welcome } from './welcome.tsx'
import { ProjectList, projectRowHeight } from './project-list.tsx'
import styles from './page.module.css'

export function ProjectsPage() {
  useTitle('Projects')
  const setNewProjectOpen = useUi((state) => state.setNewProjectOpen)
  const setDroppedSource = useDroppedSource((state) => state.setSource)
  const [params, setParams] = useSearchParams()
  const query = params.get('q') ?? ''
  const words = useDeferredValue(query.trim().toLowerCase())
  const [shouldPrefetch, setShouldPrefetch] = useState(false)
  const search = useProjectSearch(words, shouldPrefetch)
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch, all, matches } = search

  if (data && all.length === 0) return <Welcome />
  return (
    <DropZone
      label="Drop to create a project"
      onDropped={(dropped) => {
        setDroppedSource(dropped)
        setNewProjectOpen(true)
      }}
    >
      <div className="page">
        <header className="page-header">
          <h1>Projects</h1>
          <div className={`page-actions ${styles.projectsTools}`}>
            <div className="search">
              <Search size={15} aria-hidden />
              <input
                className="input"
                type="search"
                placeholder="Name, slug or repository"
                aria-label="Search projects"
                value={query}
                onFocus={() => setShouldPrefetch(true)}
                onChange={({ target }) => setParams(target.value === '' ? {} : { q: target.value }, { replace: true })}
              />
            </div>
            <Button kind="primary" icon={Plus} onClick={() => setNewProjectOpen(true)}>
              New project
            </Button>
          </div>
        </header>
        <RecoveryNotice />
        {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
        <div className={`card ${styles.projectsCard}`} hidden={error !== null && !data}>
          {isPending && <SkeletonRows rows={8} height={projectRowHeight} />}
          {matches.length > 0 && (
            <ProjectList
              projects={matches}
              words={words}
              onEndReached={() => !search.is_search && hasNextPage && !isFetchingNextPage && void fetchNextPage()}
            />
          )}
          {data && matches.length === 0 && !search.is_searching && (
            <EmptyState
              icon={Ship}
              title="No projects match"
              action={<Button onClick={() => setParams({}, { replace: true })}>Show all projects</Button>}
            >
              No name, slug or repository contains “{query}”.
            </EmptyState>
          )}
        </div>
        <p className={`text-subtle ${styles.projectsCount}`} role="status">
          {data && resultsSummary(search)}
        </p>
        {words === '' && <TourSlot />}
      </div>
    </DropZone>
  )
}

function resultsSummary(search: ReturnType<typeof useProjectSearch>): string {
  if (search.is_searching) return `Searching; ${formatCount(search.matches.length)} so far`
  if (search.is_search) {
    const all = `${formatCount(search.count)} of ${formatCount(search.total)} projects`
    return search.matches.length < search.count
      ? `${all}; showing the newest ${formatCount(search.matches.length)}. Add a word to narrow the search`
      : all
  }
  const all = search.all.length
  return search.hasNextPage ? `${formatCount(all)} newest projects; scroll to load more` : `${formatCount(all)} ${all === 1 ? 'project' : 'projects'}`
}

function formatCount(value: number): string {
  return value.toLocaleString()
}
