/** How the development server of a folder is started. It gets PORT; in arguments `{port}` stands for it. */
export interface DevServerPlan {
  framework: string | null
  label: string
  command: string[]
  environment: Record<string, string>
  /** Whether it is addressed as `localhost:PORT`, or by the address that the browser shows. */
  host_header: 'localhost' | 'public'
  /** The port on which the source says that it listens; null: the one it is given. */
  port: number | null
  /** What was found, for the terminal. */
  explanation: string
}
