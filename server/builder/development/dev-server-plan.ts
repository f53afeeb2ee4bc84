/** How the development server of a folder is started. It gets PORT; in arguments `{port}` stands for it. */
export interface DevServerPlan {
  framework: string | null
  label: string
  command: string[]
  environment: Record<string, string>
  /** Whether it is addressed as `localhost:PORT`, or by the address that the browser shows. */
  host_header: 'localhost' | 'public'
  /** The port in the source's configuration; null: the server uses the assigned one. */
  port: number | null
  /** The detected tool, for the terminal. */
  explanation: string
}
