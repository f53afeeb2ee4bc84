import { useState } from 'react'
import { useProjectSettings, useUpdateProjectSettings } from '../../api/project-settings.ts'
import { useUpdateProject } from '../../api/projects.ts'
import type { PlanChoice } from '../../api/source-plans.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { Button } from '../../components/button.tsx'
import { SourcePlanView } from './source-plan-view.tsx'
import styles from './plan.module.css'

/** What the first deployment of a project will do. A selected app becomes the root directory of the project, several become its services. */
export function ProjectPlan({ project }: { project: Project }) {
  const { slug } = project
  const { data: more } = useProjectSettings(slug)
  const saved = more?.settings.apps ?? []
  const [chosen, setChosen] = useState<readonly string[] | null>(null)
  const apps = chosen ?? saved
  const update = useUpdateProject({ successMessage: ({ project: { root_directory } }) => `Root directory set to ${root_directory}.` })
  const save = useUpdateProjectSettings({ successMessage: 'Apps saved. Deploy the project to run them.', onSuccess: () => setChosen(null) })
  const choose = ({ root_directory, apps: next }: PlanChoice) => {
    setChosen(next)
    if (root_directory !== null) update.mutate({ params: { slug }, body: { root_directory } })
  }
  return (
    <section className="card" aria-labelledby="plan">
      <header className="card-header">
        <h2 id="plan">What Homeport will do</h2>
      </header>
      <div className="card-body stack">
        <SourcePlanView source={{ kind: 'project', slug }} choice={{ root_directory: project.root_directory, apps }} onChoose={choose} />
        {more && apps.toSorted().join('\n') !== saved.toSorted().join('\n') && (
          <p className={styles.confirm} role="status">
            <span>{apps.length === 0 ? 'Deploy the repository as one app?' : `Deploy ${apps.join(', ')} as services of this project?`}</span>
            <Button kind="primary" busy={save.isPending} onClick={() => save.mutate({ params: { slug }, body: { apps: [...apps] } })}>
              Save in settings
            </Button>
            <Button onClick={() => setChosen(null)}>Cancel</Button>
          </p>
        )}
      </div>
    </section>
  )
}
