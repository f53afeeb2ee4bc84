import { Link } from 'wouter'
import { useScrollToCurrent } from '../lib/use-scroll-to-current.ts'
import { projectPages, projectTabs } from '../routes.ts'
import styles from './project-navigation.module.css'

/** The tabs of a project, and below them the pages of the open tab if it has several. */
export function ProjectNavigation({ projectPath, location }: { projectPath: string; location: string }) {
  const tabs = useScrollToCurrent(location)
  const pagesOfTab = useScrollToCurrent(location)
  const current = findPage(location.slice(projectPath.length))
  const pages = projectPages.filter(({ tab, label }) => tab === current?.tab && label !== null)
  return (
    <>
      <nav className="tabs" aria-label="Project" ref={tabs}>
        {projectTabs.map((tab) => (
          <Link
            key={tab}
            href={`${projectPath}${projectPages.find((page) => page.tab === tab)?.path ?? ''}`}
            className="tab"
            aria-current={tab === current?.tab ? 'true' : undefined}
          >
            {tab}
          </Link>
        ))}
      </nav>
      {pages.length > 1 && (
        <nav className={styles.pagesOfTab} ref={pagesOfTab} aria-label={`${current?.tab} pages`}>
          {pages.map((page) => (
            <Link key={page.path} href={`${projectPath}${page.path}`} aria-current={page === current ? 'page' : undefined}>
              {page.label}
            </Link>
          ))}
        </nav>
      )}
    </>
  )
}

/** The page at a path below the project, or the one that lists what is at that path. */
const findPage = (path: string) =>
  projectPages
    .filter((page) => path === page.path || (page.path !== '' && path.startsWith(`${page.path}/`)))
    .toSorted((a, b) => b.path.length - a.path.length)[0]
