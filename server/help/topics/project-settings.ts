import type { HelpArticle } from '../topic.ts'

export const projectSettingsTopics: HelpArticle[] = [
  {
    id: 'project-settings',
    title: 'Project settings',
    summary: 'What each setting of a project does, by the name that the API and the command line use.',
    keywords: 'configure change set option name repo_url root directory node version command memory cpu cores health path timeout warm cache',
    body: [
      'Change settings under Settings, or by name from a terminal. Changes to source, build and runtime take effect with the next deployment.',
      { run: 'npx homeport projects set my-app root_directory=apps/web memory_limit_mb=1024' },
      { run: 'npx homeport projects set my-app health_path=/healthz health_timeout_s=120', note: 'several at once; none clears a setting' },
      { h: 'Source' },
      {
        list: [
          '`name` is shown in the dashboard. It changes neither the slug nor the address.',
          '`repo_url` is the git repository that is deployed. Without one, the project deploys folders and archives ([[uploads]]).',
          '`repo_branch` is the branch of production. Other branches get previews ([[previews]]).',
          '`root_directory` is the folder of the app in the repository, and `.` is the root. Set it when a repository contains several apps.',
          '`apps` lists folders of apps that are deployed together, each as a service named like its folder: `apps/web,apps/api`. The one named `web`, else the first, answers on the project’s address. It applies to a source without a configuration file, with `.` as root directory. With `none`, the source is one app.',
        ],
      },
      { h: 'Build' },
      {
        list: [
          '`node_version` is a version such as `24`, or a range such as `>=22`. With `auto` it is detected from the source.',
          '`install_command` installs the dependencies. With `auto` it follows from the lock file.',
          '`build_command` builds the app. With `auto` it follows from the framework and the scripts in `package.json`.',
        ],
      },
      { h: 'Runtime' },
      {
        list: [
          '`memory_limit_mb` is the memory of the app, up to the maximum of the plan. An app that exceeds it is stopped ([[memory]]).',
          '`cpu_limit` is the number of CPU cores for the app and for each of its builds, such as `0.5`. With `none`, an app gets 1 core and a build gets all cores. Apps and builds that run as processes are not limited, and neither is a `Dockerfile` that needs BuildKit on Docker 22 and older; the build log has a note about this.',
          '`replicas` is how many copies of the app run, 1 to 20. Requests are distributed over them. It applies at once ([[replicas]]).',
          '`autoscaling` changes that number with the load, between a minimum and a maximum ([[autoscaling]]).',
          '`sticky_sessions` keeps each browser at the same replica with a cookie. It is off by default ([[replicas]]).',
          '`node_labels` lists labels of nodes, such as `disk=ssd,zone=a`. On a cluster, the app runs only on nodes that have all of them ([[cluster]]).',
          '`public_ports` lists additional ports for HTTP, such as `9090,9091`, each with its own address: `web-9090--my-app.localhost`. The app finds the port to listen on in `PORT_9090` ([[services]]).',
          '`always_warm` keeps an idle app awake. Otherwise it sleeps after some time and wakes with the next request ([[sleep]]).',
          '`caching_enabled` lets the edge cache responses that the app marks as public. When it is off, every request reaches the app ([[cache]]).',
          '`tracing` gives apps the variables with which OpenTelemetry SDKs send their traces to Homeport. It is on by default ([[traces]]).',
        ],
      },
      { h: 'Health check' },
      {
        list: [
          '`health_path` is the path that a new version must answer with a status below 500 before it gets traffic. The default is `/`.',
          '`health_timeout_s` is how many seconds a new version may take to answer, from 5 to 600. After that the deployment fails, and the previous version stays live ([[health-check]]). It applies to every service without its own `timeout` in `homeport.yaml`.',
        ],
      },
      { h: 'Automatic deployments' },
      {
        list: [
          '`deploys_pushes` deploys every push to the production branch. When it is off, deploy with a button or the command line.',
          '`watch_paths` lists the files that matter to the app, as patterns of `.gitignore`: `apps/web/**,/package-lock.json,!**/*.md`. A push that changes none of them is not deployed. It is listed under Previews and Deployments, where you can deploy it anyway. `!` leaves out files, the last pattern that matches decides, and a list that starts with `!` applies to all other files. `homeport.yaml` in the root directory always counts, and so does a deployment that you start. With `none`, every push is deployed.',
          '`previews` gives every other branch its own deployment. Turning it off closes the open previews.',
          '`preview_databases` gives each preview a copy of the project’s database. Without it, previews have no database.',
          '`pull_requests` gives pull requests previews, without a token or webhook. It is off by default, because it runs the code of anyone who can open a pull request ([[previews]]).',
          '`pull_request_secrets` gives previews of pull requests what other previews get: sensitive variables and those of all environments, the copy of the database, snapshots of volumes. Anyone who can open a pull request can then read them.',
          '`preview_volumes` is `snapshot` for previews that start with a snapshot of production’s volumes, or `empty`. It applies to previews that are opened from then on.',
        ],
      },
    ],
  },
]
