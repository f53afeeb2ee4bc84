import { Plus, Search, Ship } from 'lucide-react'
import { useDeferredValue, useMemo, useState } from 'react'
import { useCapabilities } from '../../api/capabilities.ts'
import { useProjectSearch } from '../../api/project-search.ts'
import { useProjectsBySlug, useSparklines } from '../../api/projects.ts'
import { toApiError } from '../../lib/api-error.ts'
import { useProjectList } from '../../stores/project-list.ts'
import { useUi } from '../../stores/ui.ts'
import { Button } from '../../components/button.tsx'
import { EmptyState, ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { DropZone } from '../upload/index.ts'
import { useDroppedSource } from '../../stores/dropped-source.ts'
import { useQueryParams } from '../../lib/use-query-params.ts'
import { useTitle } from '../../lib/use-title.ts'
import { RecoveryNotice } from '../instance/index.ts'
import { TourSlot } from '../tour/index.ts'
import { arrangeProjects } from './arrange-projects.ts'
import { useFavorites } from './favorite-button.tsx'
import { ProjectGrid } from './project-grid.tsx'
import { ProjectList, projectRowHeight } from './project-list.tsx'
import { ProjectToolbar, parseProjectFilter } from './project-toolbar.tsx'
import { Welcome } from './welcome.tsx'
import styles from './page.module.css'

export function ProjectsPage() {
  useTitle('Projects')
  const setNewProjectOpen = useUi((state) => state.setNewProjectOpen)
  const setDroppedSource = useDroppedSource((state) => state.setSource)
  const { params, change, clear } = useQueryParams()
  const query = params.get('q') ?? ''
  const words = useDeferredValue(query.trim().toLowerCase())
  const [shouldPrefetch, setShouldPrefetch] = useState(false)
  const { order, state } = parseProjectFilter(params)
  // Another order, or one state, needs all projects.
  const search = useProjectSearch(words, shouldPrefetch, order !== 'created' || state !== null)
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch, all, matches } = search
  const view = useProjectList((store) => store.view)
  const favorites = useFavorites()
  const { data: requests } = useSparklines(useCapabilities().has_instance_api)
  const favoriteProjects = useProjectsBySlug(words === '' && data ? favorites : [])
  const shown = useMemo(() => {
    const loaded = new Set(matches.map(({ id }) => id))
    const missing = favoriteProjects.filter(({ id }) => !loaded.has(id))
    return arrangeProjects(missing.length === 0 ? matches : [...missing, ...matches], { order, state, favorites, requests })
  }, [matches, favoriteProjects, order, state, favorites, requests])
  const onEndReached = () => !search.is_search && hasNextPage && !isFetchingNextPage && void fetchNextPage()

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
                onChange={({ target }) => change({ q: target.value })}
              />
            </div>
            <Button kind="primary" icon={Plus} onClick={() => setNewProjectOpen(true)}>
              New project
            </Button>
          </div>
        </header>
        <RecoveryNotice />
        {error && <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />}
        <ProjectToolbar order={order} state={state} onChange={change} />
        <div className={view === 'list' || shown.length === 0 ? `card ${styles.projectsCard}` : undefined} hidden={error !== null && !data}>
          {isPending && <SkeletonRows rows={8} height={projectRowHeight} />}
          {shown.length > 0 &&
            (view === 'grid' ? (
              <ProjectGrid projects={shown} favorites={favorites} requests={requests} onEndReached={onEndReached} />
            ) : (
              <ProjectList projects={shown} favorites={favorites} requests={requests} words={words} onEndReached={onEndReached} />
            ))}
          {data && shown.length === 0 && !search.is_searching && (
            <EmptyState icon={Ship} title="No projects match" action={<Button onClick={clear}>Show all projects</Button>}>
              {query.trim() === '' ? 'No project has this status.' : `No name, slug or repository contains “${query}”.`}
            </EmptyState>
          )}
        </div>
        <p className={`text-subtle ${styles.projectsCount}`} role="status">
          {data && resultsSummary(search, state === null ? null : shown.length)}
        </p>
        {words === '' && <TourSlot />}
      </div>
    </DropZone>
  )
}

/** `filtered`: the number of projects of the selected status, or null for any status. */
function resultsSummary(search: ReturnType<typeof useProjectSearch>, filtered: number | null): string {
  if (search.is_searching) return `Searching; ${formatCount(filtered ?? search.matches.length)} so far`
  if (filtered !== null) return `${formatCount(filtered)} of ${formatCount(search.total)} projects`
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
