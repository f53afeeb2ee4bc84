import { Star } from 'lucide-react'
import type { Project } from '../../../server/contract/projects.ts'
import { useConnection } from '../../stores/connection.ts'
import { useProjectList } from '../../stores/project-list.ts'
import styles from './page.module.css'

const none: readonly string[] = []

/** The favorites of this browser on the current instance. */
export function useFavorites(): readonly string[] {
  const id = useConnection(({ current }) => current.id)
  return useProjectList(({ favorites }) => favorites[id]) ?? none
}

export function FavoriteButton({ project, isFavorite }: { project: Project; isFavorite: boolean }) {
  const id = useConnection(({ current }) => current.id)
  const toggle = useProjectList((state) => state.toggleFavorite)
  const label = isFavorite ? `Remove ${project.name} from favorites` : `Add ${project.name} to favorites`
  return (
    <button
      type="button"
      className={styles.favorite}
      aria-pressed={isFavorite}
      aria-label={label}
      title={label}
      onClick={() => toggle(id, project.slug)}
    >
      <Star size={15} aria-hidden />
    </button>
  )
}
