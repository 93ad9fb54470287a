/// <reference types="node" preserve="true" />
/** Runs model-written code in isolated sandboxes and carries Agent Skills into them. */
// First, so that an older Node says so before a package that it cannot run is evaluated.
import './contracts/require-node.ts';

export { createModelGateway } from './broker/create-model-gateway.ts';
export { type ModelEnvironment, readModelSettings } from './broker/model-environment.ts';
export type { ModelAnswer, ModelGateway, ModelMessage, ModelRequest, ModelUsage } from './broker/model-gateway.ts';
export type { SdkModel } from './broker/sdk-model-gateway.ts';
export type { ModelRetryOptions } from './broker/model-retry.ts';
export type { ModelProvider, ModelSettings } from './broker/model-settings.ts';
export { recordingGateway } from './broker/recording-gateway.ts';
export { replayGateway } from './broker/replay-gateway.ts';
export type { SdkGatewayOptions } from './broker/sdk-gateway-options.ts';
export type { ApprovalAnswer, ApprovalRequest, Approve } from './broker/approval.ts';
export type { SdkTool, SdkTools } from './broker/sdk-tools.ts';
export { defineTool, type Tool, type ToolContext, type ToolDefinition } from './broker/tool.ts';
export type { ToolSchema } from './broker/schema-source.ts';
export type {
  SchemaSide,
  SdkSchema,
  SdkVerdict,
  StandardIssue,
  StandardSchema,
  StandardVerdict,
} from './broker/tool-schema/tool-schema.ts';
export { ToolCallError, type ToolCallErrorOptions, ToolError } from './broker/tool-errors.ts';
export type { DecisionRound, JobDecision, SelectOptions } from './contracts/decision.ts';
export type * from './contracts/descriptor.ts';
export type { Diagnostic, DiagnosticCode, DiagnosticPlace, Severity } from './contracts/diagnostic.ts';
export { DIAGNOSTIC_REGISTRY, type DiagnosticEntry } from './contracts/diagnostic-registry.ts';
export type { DiagnosticText } from './contracts/diagnostic-severities.ts';
export { ERROR_REGISTRY, type ErrorCode, type ErrorEntry } from './contracts/error-registry.ts';
export type { JobEvent, ModelStage, OutputEvent } from './contracts/events.ts';
export type { GenerateOptions, Generation, StandardSchemaLike, ZodSchema } from './contracts/generation.ts';
export type { RuntimeGlobals, SandboxJob, ToolDeclarations, ToolDescription } from './contracts/globals.ts';
export type {
  CodegenOptions,
  ExecOptions,
  InputContent,
  InputFile,
  JobBudget,
  JobMatchOptions,
  JobOptions,
  JobOutputs,
  JobSkillsOptions,
  JobTool,
  ScriptOptions,
} from './contracts/job.ts';
export type { BuiltInLanguage, Language } from './contracts/language.ts';
export { TOOL_CALL_CODES, type ToolCallCode } from './contracts/tool-call-codes.ts';
export { DEFAULT_LIMITS, type JobLimits } from './contracts/limits.ts';
export type * from './contracts/result.ts';
export type {
  Session,
  SessionExport,
  SessionFile,
  SessionFiles,
  SessionOptions,
  SessionResult,
  SessionRun,
  SessionRunOptions,
  SessionStream,
} from './contracts/session.ts';
export type * from './contracts/skill.ts';
export type * from './contracts/store.ts';
export { SkillcellError, type SkillcellErrorOptions } from './contracts/skillcell-error.ts';
export type { SandboxUsage } from './contracts/usage.ts';
export type { SweepSummary } from './orchestrator/sweep-runners.ts';
export { createLogger, type LoggerOptions } from './orchestrator/create-logger.ts';
export { createOrchestrator } from './orchestrator/create-orchestrator.ts';
export type {
  JobStream,
  Orchestrator,
  OrchestratorOptions,
  PoolMetrics,
  PoolOptions,
} from './orchestrator/orchestrator.ts';
export type * from './evals/eval-report.ts';
export { evaluateSkill, type EvaluateSkillOptions, type OnEvalRun } from './evals/evaluate-skill.ts';
export type { EvalProgress } from './evals/conduct-eval.ts';
export type { EvalJobOptions, MadeEvalRun } from './evals/make-run.ts';
export { openSkillLibrary } from './library/open-skill-library.ts';
export type {
  Admit,
  LibraryConsumer,
  LibraryHead,
  LibraryRequest,
  SkillLibrary,
  SkillLibraryOptions,
} from './library/skill-library.ts';
export {
  searchSkills,
  type SearchSkillsOptions,
  type SkillHit,
  type SkillSearch,
} from './library/search/search-skills.ts';
export type { SearchMatch, SearchSnippet } from './library/search/search-snippet.ts';
export type { SearchedField } from './library/search/searched-fields.ts';
export { connectMcpTools, type McpToolNote, type McpTools } from './mcp/client/connect-mcp-tools.ts';
export type { McpAddress, McpProgram, McpServer, McpServers } from './mcp/client/mcp-servers.ts';
export type { McpConnectOptions, McpToolOptions } from './mcp/client/mcp-tool-options.ts';
export { createDockerRunner, type DockerRunnerOptions } from './runners/docker/docker-runner.ts';
export type { EngineOptions } from './runners/docker/engine-options.ts';
export type { ImageFlavor } from './runners/docker/image-flavor.ts';
export { createLocalRunner, type LocalRunnerOptions } from './runners/local/local-runner.ts';
export type * from './runners/runner.ts';
export { RUNNER_CONTRACT } from './runners/runner.ts';
export { ensureRuntime, type RuntimeBundle } from './runners/runtime-bundle.ts';
export type { WarmPoolCounts } from './runners/warm-pool.ts';
export { openTreeCache, type TreeCache, type TreeCacheOptions } from './stores/cache/tree-cache.ts';
export { createDirectoryStore, type DirectoryStoreOptions } from './stores/directory/directory-store.ts';
export * from './skills/index.ts';
export type { ExplainedRule, OtherVersion, SkillExplanation, SkillPlace } from './authoring/explain-skill.ts';
export type { ImportEdge, ImportState } from './authoring/import-graph.ts';
export type { OwnCode } from './contracts/diagnostic-severities.ts';
export type { LibraryCode } from './contracts/library-severities.ts';
export type { HeadRecord } from './library/head-record.ts';
export type { StoreState } from './library/look-at-store.ts';
export type { GateVerdict } from './library/skill-library.ts';
export type { SkillParts, SkillPartsReading } from './skills/load/read-skill-parts.ts';
