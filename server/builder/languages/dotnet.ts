import { joinDockerfile, type Language, type LanguageApp, requireAny, requireAtLeast, startWith, unprivileged } from './language.ts'

/** .NET: the project in the root, or the web project in a subfolder of a solution. */
export const dotnet: Language = async (app) => {
  const project = await findProject(app)
  if (!project) return null
  const requested = /<TargetFramework>net(\d+\.\d+)/.exec(project.text)?.[1] ?? null
  const version = requested ?? '8.0'
  const assembly =
    /<AssemblyName>([^<]+)/.exec(project.text)?.[1] ??
    project.path
      .split('/')
      .at(-1)
      ?.replace(/\.\w+$/, '') ??
    'app'
  const build = app.build_command ?? `dotnet publish ${project.path} -c Release -o ${app.target.output}`
  const start = app.procfile ?? `env ASPNETCORE_URLS=http://${app.target.host}:$PORT dotnet ${assembly}.dll`
  return {
    framework: 'dotnet',
    explanation: [`.NET app found (${project.path}): .NET ${version}`, `Build: ${build}`],
    dockerfile: joinDockerfile(
      `FROM mcr.microsoft.com/dotnet/sdk:${version} AS build`,
      'WORKDIR /src',
      project.path.includes('/') ? null : [`COPY ${project.path} ./`, `RUN ${app.install_command ?? 'dotnet restore'}`],
      'COPY . .',
      `RUN ${build}`,
      '',
      `FROM mcr.microsoft.com/dotnet/aspnet:${version}`,
      'WORKDIR /app',
      unprivileged,
      startWith(start),
      'COPY --chown=1000:1000 --from=build /out ./',
    ),
    ignored: ['bin', 'obj', '**/bin', '**/obj', '.env', 'node_modules'],
    steps: {
      tools: [requested === null ? requireAny('dotnet') : requireAtLeast('dotnet', requested, project.path)],
      install: app.install_command,
      build,
      start,
      start_directory: app.target.output,
      // A newer .NET runs an app for an older one.
      variables: { DOTNET_ROLL_FORWARD: 'Major', DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' },
    },
  }
}

const isProjectFile = (name: string) => /\.(cs|fs|vb)proj$/.test(name)

async function findProject(app: LanguageApp): Promise<{ path: string; text: string } | null> {
  const root = app.names.find(isProjectFile)
  if (root !== undefined) return { path: root, text: (await app.read(root)) ?? '' }
  if (!app.names.some((name) => /\.slnx?$/.test(name))) return null
  const folders = app.names.filter((name) => name.endsWith('/'))
  const nested = (await app.list('src')).filter((name) => name.endsWith('/')).map((name) => `src/${name}`)
  for (const folder of [...folders, ...nested]) {
    const name = (await app.list(folder)).find(isProjectFile)
    const text = name === undefined ? null : await app.read(`${folder}${name}`)
    if (text !== null && /Sdk="Microsoft\.NET\.Sdk\.Web"/.test(text)) return { path: `${folder}${name}`, text }
  }
  return null
}
