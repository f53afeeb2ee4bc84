import { useState } from 'react'
import { useUpdateProject } from '../../api/projects.ts'
import type { PlanChoice } from '../../api/source-plans.ts'
import type { Project } from '../../../server/contract/projects.ts'
import { SourcePlanView } from './source-plan-view.tsx'

/** What the first deployment of a project will do. A chosen app becomes the root directory of the project. */
export function ProjectPlan({ project }: { project: Project }) {
  const [apps, setApps] = useState<readonly string[]>([])
  const update = useUpdateProject({ successMessage: ({ project: { root_directory } }) => `Root directory set to ${root_directory}.` })
  const choose = ({ root_directory, apps: chosen }: PlanChoice) => {
    setApps(chosen)
    if (root_directory !== null) update.mutate({ params: { slug: project.slug }, body: { root_directory } })
  }
  return (
    <section className="card" aria-labelledby="plan">
      <header className="card-header">
        <h2 id="plan">What Homeport will do</h2>
      </header>
      <div className="card-body">
        <SourcePlanView
          source={{ kind: 'project', slug: project.slug }}
          choice={{ root_directory: project.root_directory, apps }}
          onChoose={choose}
        />
      </div>
    </section>
  )
}
