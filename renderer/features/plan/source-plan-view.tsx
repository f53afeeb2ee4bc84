import { Download, FilePlus2 } from 'lucide-react'
import { useState } from 'react'
import { type PlanChoice, type PlanSource, useSaveFolderPlan, useSourcePlan } from '../../api/source-plans.ts'
import type { PlannedSource } from '../../../server/contract/source-plans.ts'
import { Button } from '../../components/button.tsx'
import { ProblemView, Skeleton } from '../../components/feedback.tsx'
import { Prose } from '../../components/prose.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { shortenSha } from '../../lib/format.ts'
import { saveFile } from '../../lib/save-file.ts'
import { AppChoice } from './app-choice.tsx'
import { FactsTable } from './facts-table.tsx'
import { ServiceDiagram } from './service-diagram.tsx'
import styles from './plan.module.css'

interface SourcePlanViewProps {
  source: PlanSource
  choice: PlanChoice
  onChoose: (choice: PlanChoice) => void
}

/** The plan of a source: problems first, then services, facts with their origin, and the equivalent configuration file. */
export function SourcePlanView({ source, choice, onChoose }: SourcePlanViewProps) {
  const { data: plan, error, isPending, isPlaceholderData, refetch } = useSourcePlan(source, choice)
  if (error) return <ProblemView problem={toApiError(error)} onRetry={() => void refetch()} />
  if (isPending) return <PlanSkeleton isFetched={source.kind !== 'folder'} />
  if (plan === null) return null
  return (
    <div className={styles.plan} aria-busy={isPlaceholderData}>
      <Problems plan={plan} />
      {plan.apps.length > 0 && (
        <AppChoice isSaved={source.kind !== 'folder'} apps={plan.apps} choice={choice} hasRootApp={plan.problems.length === 0} onChoose={onChoose} />
      )}
      {plan.services.length > 0 && (
        <>
          <p className="text-subtle">{describeOrigin(plan)}</p>
          <ServiceDiagram services={plan.services} builds={plan.builds} managed={plan.managed} />
          <FactsTable plan={plan} />
          <ManagedNotes managed={plan.managed} />
          <Notes plan={plan} />
          <Dockerfiles plan={plan} />
          {plan.file !== 'homeport.yaml' && plan.homeport_yaml !== null && (
            <SaveFile key={JSON.stringify(source)} source={source} choice={choice} text={plan.homeport_yaml} />
          )}
        </>
      )}
    </div>
  )
}

function PlanSkeleton({ isFetched }: { isFetched: boolean }) {
  return (
    <div className={styles.plan} role="status">
      <p className="text-subtle">{isFetched ? 'Fetching the repository and reading its files' : 'Reading the folder'}</p>
      <Skeleton height={72} />
      <Skeleton height={180} />
    </div>
  )
}

function describeOrigin({ file, commit, root_directory }: PlannedSource): string {
  const where = root_directory === '.' ? '' : ` in ${root_directory}`
  const read = file === null ? `Detected from the files${where}` : `Read from ${file}${where}`
  return commit === null ? `${read}.` : `${read}, commit ${shortenSha(commit.sha)} of ${commit.branch}.`
}

function Problems({ plan: { problems, missing_variables } }: { plan: PlannedSource }) {
  if (problems.length === 0 && missing_variables.length === 0) return null
  return (
    <ul className={styles.problems}>
      {problems.map(({ file, line, message, hint }) => (
        <li key={`${line} ${message}`}>
          {file !== null && <code>{line === null ? file : `${file}:${line}`}</code>} <Prose text={message} />{' '}
          <span className="text-muted">
            <Prose text={hint} />
          </span>
        </li>
      ))}
      {missing_variables.length > 0 && (
        <li>
          Required variables are missing: <code>{missing_variables.join(', ')}</code>. <span className="text-muted">Add them before you deploy.</span>
        </li>
      )}
    </ul>
  )
}

/** What a deployment changes about managed services, and what it leaves. */
function ManagedNotes({ managed }: { managed: PlannedSource['managed'] }) {
  const added = managed.filter(({ is_added }) => !is_added).map(({ label }) => label)
  const kept = managed.filter(({ is_listed }) => !is_listed).map(({ label }) => label)
  if (added.length + kept.length === 0) return null
  return (
    <p className="text-subtle">
      {added.length > 0 && `A production deployment adds ${added.join(', ')}. Removing the line later keeps ${added.length === 1 ? 'it' : 'them'}. `}
      {kept.length > 0 && `Kept, although the source does not list ${kept.length === 1 ? 'it' : 'them'}: ${kept.join(', ')}.`}
    </p>
  )
}

function Notes({ plan: { notes, builds } }: { plan: PlannedSource }) {
  const all = [...new Set([...notes, ...builds.flatMap((build) => build.notes)])]
  if (all.length === 0) return null
  return (
    <details className="disclosure">
      <summary>{all.length === 1 ? '1 note' : `${all.length} notes`}</summary>
      <ul className={styles.notes}>
        {all.map((note) => (
          <li key={note}>
            <Prose text={note} />
          </li>
        ))}
      </ul>
    </details>
  )
}

function Dockerfiles({ plan: { builds } }: { plan: PlannedSource }) {
  return builds.map(({ services, dockerfile }) =>
    dockerfile?.is_generated ? (
      <details key={services.join()} className="disclosure">
        <summary>Generated Dockerfile{builds.length > 1 && ` of ${services.join(', ')}`}</summary>
        <pre className={styles.dockerfile} tabIndex={0}>
          {dockerfile.text}
        </pre>
      </details>
    ) : null,
  )
}

/** Downloads the plan, or writes it into a folder of this machine after a confirmation. */
function SaveFile({ source, choice, text }: { source: PlanSource; choice: PlanChoice; text: string }) {
  const [isAsking, setAsking] = useState(false)
  const save = useSaveFolderPlan({ successMessage: ({ file }) => `${file} saved in the folder.`, onSuccess: () => setAsking(false) })
  return (
    <div className={styles.save}>
      <Button icon={Download} onClick={() => saveFile(new Blob([text], { type: 'application/yaml' }), 'homeport.yaml')}>
        Download homeport.yaml
      </Button>
      {source.kind === 'folder' && !isAsking && (
        <Button icon={FilePlus2} onClick={() => setAsking(true)}>
          Save into the folder…
        </Button>
      )}
      {source.kind === 'folder' && isAsking && (
        <p className={styles.confirm} role="status">
          <span>
            Write homeport.yaml into <span className="mono">{source.path}</span>? An existing file is not replaced.
          </span>
          <Button
            kind="primary"
            busy={save.isPending}
            onClick={() =>
              save.mutate({
                body: {
                  path: source.path,
                  apps: [...choice.apps],
                  ...(choice.root_directory === null ? {} : { root_directory: choice.root_directory }),
                },
              })
            }
          >
            Write file
          </Button>
          <Button onClick={() => setAsking(false)}>Cancel</Button>
        </p>
      )}
    </div>
  )
}
