import { Button } from '../../components/button.tsx'
import { LinesField } from '../../components/field.tsx'
import styles from './page.module.css'

interface WatchPathsFieldProps {
  rootDirectory: string
  /** A pattern on each line. */
  value: string
  onChange: (value: string) => void
  error: string | undefined
}

/** The files whose changes deploy a push. For an app in a folder, that folder is suggested. */
export function WatchPathsField({ rootDirectory, value, onChange, error }: WatchPathsFieldProps) {
  const folder = rootDirectory.trim().replace(/^(\.\/)+|\/+$/g, '')
  const isOffered = value.trim() === '' && folder !== '' && folder !== '.'
  return (
    <div className="stack">
      <LinesField
        label="Watch paths"
        value={value}
        onChange={({ target }) => onChange(target.value)}
        placeholder="All files"
        error={error}
        hint="One pattern per line, as in .gitignore. A push that changes none of these files is not deployed. !**/*.md leaves out Markdown."
      />
      {isOffered && (
        <div className={styles.suggestion}>
          <Button onClick={() => onChange(`/${folder}/**\n/package.json\n/*lock*`)}>Watch {folder} and the lock file</Button>
          <span className="text-subtle">Add the folders of other packages that the app uses.</span>
        </div>
      )}
    </div>
  )
}
