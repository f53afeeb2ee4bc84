/** A volume that was added to a project. A removed one keeps its row, so that its name and data are reused. */
export interface ProjectVolumeRow {
  project_id: string
  name: string
  /** Empty for the service that has the project's address. */
  service: string
  /** Absolute. */
  path: string
  /** Whether `path` is one file, which is kept alone. */
  is_file: 0 | 1
  /** The snapshot with which it starts; null for the files of the live version. */
  begins_with: string | null
  created_at: string
  removed_at: string | null
}

/** Files outside of volumes that look like data. One row per service and path, so that the same path is reported once. */
export interface UnsavedFilesRow {
  id: string
  project_id: string
  /** Empty for the service that has the project's address. */
  service: string
  path: string
  kind: 'database' | 'uploads' | 'files'
  is_file: 0 | 1
  files: number
  bytes: number | null
  /** The name of the volume that keeps them, or would keep them. */
  volume: string
  found_at: string
  dismissed_at: string | null
}
