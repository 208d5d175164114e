/* Preparing: an input file, a variable, an init script, a step of the program's own, and a skill.
 */
#include "example.h"

static void apply(void* user_data, cove_step_run* run) {
  cove_step_result result = COVE_STEP_RESULT_INIT;
  (void)user_data;
  result.reason =
      "as the program says"; /* what takes longer goes on elsewhere, and finishes later */
  cove_step_run_finish(run, &result, NULL);
  cove_step_run_free(run);
}

static void write_skill(char* folder, size_t size, const char* state) {
  char path[4096];
  FILE* file;
  snprintf(folder, size, "%s-skill", state);
  snprintf(path, sizeof path, "mkdir -p '%s'", folder);
  check(system(path) == 0, "the skill's directory is made");
  snprintf(path, sizeof path, "%s/SKILL.md", folder);
  file = fopen(path, "w");
  check(file != NULL, "the skill is written");
  fputs("---\nname: pdf\ndescription: reads PDF files\n---\n# PDF\n", file);
  fclose(file);
}

int main(int argc, char** argv) {
  cove* app = open_in(argc, argv);
  char folder[4000];
  cove_prepare* prepare = NULL;
  cove_workspace* workspace;
  cove_buffer* json = NULL;
  cove_step_options step = COVE_STEP_OPTIONS_INIT;

  write_skill(folder, sizeof folder, argv[1]);
  must(cove_prepare_create(&prepare, &error));
  must(cove_prepare_add_file(prepare, "sales.csv", "1,2\n", 4, &error));
  must(cove_prepare_set_variable(prepare, "MODE", "demo", &error));
  must(cove_prepare_set_secret(prepare, "TOKEN", "s3cr3t", &error)); /* written nowhere */
  must(cove_prepare_set_init_script(prepare, "echo $MODE > mode.txt", NULL, &error));
  must(cove_prepare_add_host_skill(prepare, "pdf-3", folder, NULL, &error));
  step.fingerprint = "1"; /* another one, and it is applied again */
  must(cove_prepare_add_step(prepare, "own", &step, apply, NULL, NULL, &error));
  workspace = acquire(app, "c1", prepare);
  cove_prepare_free(prepare);

  must(cove_workspace_prepare_report_json(workspace, &json, &error));
  check(strstr(cove_buffer_data(json), "as the program says") != NULL, "the step was applied");
  check(strstr(cove_buffer_data(json), "s3cr3t") == NULL, "no secret is in the report");
  cove_buffer_free(json);
  must(cove_workspace_skills_json(workspace, NULL, &json, &error));
  check(strstr(cove_buffer_data(json), "/workspace/skills/pdf-3/SKILL.md") != NULL,
        "the skill lies in the workspace");
  printf("%s\n", cove_buffer_data(json)); /* "skills", "problems", and "prompt" for the model */
  cove_buffer_free(json);
  end(app, workspace);
  return 0;
}
